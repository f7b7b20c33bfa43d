// Shows the notices. Screen readers are told of them without being interrupted.
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
    <div class="notices" role="status" aria-live="polite">
      {list.map(({ id, text, kind, action }) => (
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
  )
}
