// The field for a new post, and how it will look. What is typed is a draft in the store.
import { useSignal } from '@preact/signals'
import { AppData } from '@sotto/client'
import { useEffect, useMemo } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { notifyError } from '../../session/notices.ts'
import { unstoredDraft, useDraft } from '../../session/use-draft.ts'
import { useSession } from '../../session/use-session.ts'
import { channelsTexts } from '../../texts/channels.ts'
import { Markdown } from './markdown.tsx'

/** The most that the protocol allows for a post. A relay may allow less, and says so. */
const MOST_BYTES = 65_536

interface PostFormProps {
  readonly channelId: string
  /** Resolves with whether it was posted. */
  readonly onPost: (content: string) => Promise<boolean>
}

/** The name of the draft among what the app keeps. */
function draftName(channelId: string): string {
  return `post-draft/${channelId}`
}

export function PostForm({ channelId, onPost }: PostFormProps) {
  const isPreview = useSignal(false)
  const { client } = useSession()
  const data = useMemo(() => new AppData(client), [client])
  const name = draftName(channelId)
  const typed = useSignal(unstoredDraft(name) ?? '')
  const text = typed.value
  const isTooLong = new Blob([text]).size > MOST_BYTES
  const t = channelsTexts.value
  const draft = useDraft({
    name,
    text: () => typed.value,
    store: () => data.set(name, typed.value || undefined),
  })
  const type = (written: string): void => {
    typed.value = written
    draft.changed()
  }
  useEffect(() => {
    if (unstoredDraft(name) !== undefined) return
    data.get(name).then((stored) => {
      // What was typed while the draft was read stays below it.
      if (stored !== undefined) typed.value = typed.value === '' ? stored : `${stored}\n${typed.value}`
    }, notifyError)
  }, [])
  const post = async (): Promise<void> => {
    if (!(await onPost(text.trim()))) return
    // What was typed meanwhile stays.
    if (typed.value === text) type('')
    draft.now()
    isPreview.value = false
  }
  return (
    <Form class="card" onSubmit={post}>
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
        <SubmitButton kind="primary" isDisabled={text.trim() === '' || isTooLong}>
          {t.post}
        </SubmitButton>
        <Button isDisabled={text.trim() === ''} onClick={() => (isPreview.value = !isPreview.value)}>
          {isPreview.value ? t.goOnWriting : t.preview}
        </Button>
      </div>
    </Form>
  )
}
