// Shows the notices. Screen readers are told of errors at once, and of the others when they have finished.
import type { Notice } from '../session/notices.ts'
import './notices.css'

export function Notices({
  list,
  onDone,
}: {
  readonly list: readonly Notice[]
  readonly onDone: (id: number) => void
}) {
  return (
    <div class="notices">
      {(['info', 'error'] as const).map((which) => (
        <div key={which} class="notices-kind" role={which === 'error' ? 'alert' : 'status'}>
          {list
            .filter(({ kind }) => kind === which)
            .map(({ id, text, kind, action }) => (
              <div key={id} class="notice" data-kind={kind}>
                <span>{text}</span>
                {action && (
                  <button
                    type="button"
                    class="notice-action"
                    onClick={() => {
                      action.run()
                      onDone(id)
                    }}
                  >
                    {action.label}
                  </button>
                )}
              </div>
            ))}
        </div>
      ))}
    </div>
  )
}
