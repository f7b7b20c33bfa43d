// What a screen shows if its content could not be read.
import { explain } from '../texts/explain.ts'
import { texts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Empty } from './state.tsx'

interface FailedProps {
  readonly error: unknown
  /** The screen has no title. */
  readonly isAlone?: boolean
  readonly onRetry: () => void
}

export function Failed({ error, isAlone = false, onRetry }: FailedProps) {
  return (
    <Empty
      icon="warning"
      title={texts.value.common.unreadable}
      isAlone={isAlone}
      action={
        <Button kind="primary" onClick={onRetry}>
          {texts.value.common.tryAgain}
        </Button>
      }
    >
      {explain(error)}
    </Empty>
  )
}
