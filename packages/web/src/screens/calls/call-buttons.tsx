// The buttons that call a contact.
import { IconButton } from '../../parts/button.tsx'
import { notifyError } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import './call-buttons.css'

export function CallButtons({ conversationId }: { readonly conversationId: string }) {
  const session = useSession()
  const t = texts.value.conversation
  const call = (withVideo: boolean): void => {
    session
      .phone()
      .then((phone) => phone.start(conversationId, { withVideo }))
      .catch(notifyError)
  }
  return (
    <span class="call-buttons">
      <IconButton icon="call" label={t.voiceCall} onClick={() => call(false)} />
      <IconButton icon="video" label={t.videoCall} onClick={() => call(true)} />
    </span>
  )
}
