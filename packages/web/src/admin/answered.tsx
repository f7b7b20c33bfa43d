// What a page shows until it has an answer, and if it gets none.
import type { ComponentChildren } from 'preact'
import { Button } from '../parts/button.tsx'
import { Empty, Loading } from '../parts/state.tsx'
import { adminTexts } from '../texts/admin.ts'
import { texts } from '../texts/texts.ts'
import { explain } from './explain.ts'
import type { Read } from './use-answer.ts'

interface AnsweredProps<T> {
  readonly read: Read<T>
  readonly children: (value: T) => ComponentChildren
}

/** Shows what was read. An answer that is there stays, with a line about what failed since. */
export function Answered<T>({ read: { value, error, reload }, children }: AnsweredProps<T>) {
  const t = adminTexts.value
  if (value === undefined && error === undefined) return <Loading />
  const retry = <Button onClick={() => void reload()}>{texts.value.common.tryAgain}</Button>
  if (value === undefined)
    return (
      <Empty icon="warning" title={t.failed} action={retry}>
        {explain(error)}
      </Empty>
    )
  return (
    <>
      {error !== undefined && (
        <p class="banner" data-kind="warning" role="status">
          {t.outdated} {explain(error)}
        </p>
      )}
      {children(value)}
    </>
  )
}
