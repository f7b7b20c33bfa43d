// The buttons for what can be sent besides text. What they do is loaded when one of them is pressed, when a
// file is dropped or pasted, or once the user talks to somebody.
import { useState } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { useDroppedFiles } from './dropped-files.ts'

interface BesidesTextProps {
  readonly conversationId: string
  /** Returns the id of the message that is being answered, and ends the answer. */
  readonly takeReply: () => string | undefined
}

interface VoiceProps extends BesidesTextProps {
  /** Whether the button to begin is shown. */
  readonly isOffered: boolean
}

const Attachments = lazy(
  async () => (await import('./media/attachments.tsx')).Attachments,
  () => <IconButton icon="attach" label={texts.value.conversation.attach} isDisabled />,
)
const VoiceRecorder = lazy(
  async () => (await import('./media/voice-recorder.tsx')).VoiceRecorder,
  ({ isOffered }: VoiceProps & { readonly isPressed: boolean }) =>
    isOffered ? <IconButton icon="microphone" label={texts.value.conversation.record} isDisabled /> : null,
)

/** The button for pictures and files, which can also be dropped and pasted. */
export function Attach(props: BesidesTextProps) {
  const session = useSession()
  const [chosen, choose] = useState<readonly File[]>()
  const [isPressed, setPressed] = useState(false)
  const isDropping = useDroppedFiles((files) => {
    choose(files)
    session.beginTalking()
  })
  const t = texts.value.conversation
  return (
    <>
      {isDropping && <div class="drop-target">{t.dropHere}</div>}
      {session.isTalking.value ? (
        <Attachments {...props} chosen={chosen} onChoose={choose} isPressed={isPressed} />
      ) : (
        <IconButton
          icon="attach"
          label={t.attach}
          isExpanded={false}
          onClick={() => {
            setPressed(true)
            session.beginTalking()
          }}
        />
      )}
    </>
  )
}

/** The button for voice messages. */
export function Voice(props: VoiceProps) {
  const session = useSession()
  const [isPressed, setPressed] = useState(false)
  if (session.isTalking.value) return <VoiceRecorder {...props} isPressed={isPressed} />
  if (!props.isOffered) return null
  return (
    <IconButton
      icon="microphone"
      label={texts.value.conversation.record}
      onClick={() => {
        setPressed(true)
        session.beginTalking()
      }}
    />
  )
}
