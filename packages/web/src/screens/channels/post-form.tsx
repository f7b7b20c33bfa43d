// The field for a new post, and how it will look. What is typed stays while the user looks elsewhere in the
// app.
import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { texts } from '../../texts/texts.ts'
import { Markdown } from './markdown.tsx'

/** The most that the protocol allows for a post. A relay may allow less, and says so. */
const MOST_BYTES = 65_536

/** What is typed and not posted, by channel. */
const drafts = signal<ReadonlyMap<string, string>>(new Map())

interface PostFormProps {
  readonly channelId: string
  /** Resolves with whether it was posted. */
  readonly onPost: (content: string) => Promise<boolean>
}

export function PostForm({ channelId, onPost }: PostFormProps) {
  const isBusy = useSignal(false)
  const isPreview = useSignal(false)
  const text = drafts.value.get(channelId) ?? ''
  const isTooLong = new Blob([text]).size > MOST_BYTES
  const t = texts.value.channels
  const type = (typed: string): void => {
    drafts.value = new Map([...drafts.value, [channelId, typed]])
  }
  useEffect(() => {
    // A post that is not finished would be lost with the page: the browser asks first.
    const onLeave = (event: BeforeUnloadEvent): void => {
      if ((drafts.value.get(channelId) ?? '').trim() !== '') event.preventDefault()
    }
    addEventListener('beforeunload', onLeave)
    return () => removeEventListener('beforeunload', onLeave)
  }, [channelId])
  const post = async (): Promise<void> => {
    isBusy.value = true
    if (await onPost(text.trim())) {
      // What was typed meanwhile stays.
      if (drafts.value.get(channelId) === text) type('')
      isPreview.value = false
    }
    isBusy.value = false
  }
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        void post()
      }}
    >
      {isPreview.value ? (
        <Markdown text={text} />
      ) : (
        <TextField
          label={t.newPost}
          value={text}
          onInput={type}
          rows={4}
          hint={t.newPostHint}
          error={isTooLong ? t.postTooLong : undefined}
        />
      )}
      <div class="channels-buttons">
        <Button kind="primary" isSubmit isBusy={isBusy.value} isDisabled={text.trim() === '' || isTooLong}>
          {t.post}
        </Button>
        <Button isDisabled={text.trim() === ''} onClick={() => (isPreview.value = !isPreview.value)}>
          {isPreview.value ? t.goOnWriting : t.preview}
        </Button>
      </div>
    </form>
  )
}
