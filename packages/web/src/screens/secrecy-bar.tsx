// Above every screen: the forward secrecy of conversations waits for the user's word.
import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { attempt } from '../session/notices.ts'
import { secrecyStops } from '../session/secrecy-stops.ts'
import { useSession } from '../session/use-session.ts'
import { secrecyTexts } from '../texts/secrecy.ts'

export function SecrecyBar() {
  const session = useSession()
  const isBusy = useSignal(false)
  const t = secrecyTexts.value
  const [first] = secrecyStops.value
  if (!first) return null
  const [id, stop] = first
  const found = session.conversations.value?.find(({ conversationId }) => conversationId === id)
  const name = found?.name ?? found?.nickname ?? ''
  const displaced = [...secrecyStops.value].flatMap(([each, why]) => (why === 'displaced' ? [each] : []))
  const words = {
    displaced: {
      title: t.displaced(name, displaced.length - 1),
      text: t.displacedText,
      action: t.useThisDevice,
    },
    own_rejoins: { title: t.ownRejoins(name), text: t.ownRejoinsText, action: t.joinAgain },
    peer_rejoins: { title: t.peerRejoins(name), text: t.peerRejoinsText, action: t.allowRejoins },
  }[stop]
  const decide = async (): Promise<void> => {
    isBusy.value = true
    await attempt(async () => {
      const logs = await session.secrecy()
      for (const each of stop === 'displaced' ? displaced : [id]) await logs.decide(each)
      if (session.isReplaced.value) await session.connect()
    })
    isBusy.value = false
  }
  return (
    <div class="app-bar" data-kind={stop === 'displaced' ? 'warning' : 'danger'} role="alert">
      <div class="app-bar-text">
        <strong>{words.title}</strong>
        <p>{words.text}</p>
      </div>
      <Button kind="primary" icon="device" isBusy={isBusy.value} onClick={decide}>
        {words.action}
      </Button>
    </div>
  )
}
