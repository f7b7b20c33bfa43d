// The call, above every screen: a card while it rings, the whole window during the call, or a corner of it
// while the user does something else.
import { useSignal } from '@preact/signals'
import type { CallInfo } from '@sotto/client/browser'
import type { Phone } from '../../session/calls/phone.ts'
import { notices } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { callsTexts } from '../../texts/calls.ts'
import { CallControls } from './call-controls.tsx'
import { CallScreen } from './call-screen.tsx'
import { CallWindow } from './call-window.tsx'
import { CornerCall } from './corner-call.tsx'
import { RingingCall } from './ringing-call.tsx'
import { usePhone } from './use-phone.ts'
import './call-layer.css'

export function CallLayer() {
  const phone = usePhone()
  const call = phone?.call.value
  return phone && call ? <CurrentCall key={call.id} phone={phone} call={call} /> : null
}

function CurrentCall({ phone, call }: { readonly phone: Phone; readonly call: CallInfo }) {
  const { conversations } = useSession()
  const isSmall = useSignal(false)
  const t = callsTexts.value
  const { media } = phone
  const { conversationId, state } = call
  const contact = conversations.value?.find((each) => each.conversationId === conversationId)
  const name = contact?.name ?? contact?.nickname ?? t.somebody
  const shape = state === 'ringing' ? 'card' : call.isElsewhere || isSmall.value ? 'corner' : 'full'
  const shown = {
    call,
    name,
    connectedAt: phone.connectedAt.value,
    sinkId: media.used.value.audiooutput,
  }
  return (
    <CallWindow shape={shape} label={t.window(name)} onEscape={() => (isSmall.value = true)}>
      {shape === 'card' ? (
        <RingingCall
          name={name}
          conversationId={conversationId}
          hasVideo={call.theirMedia.video}
          isBusy={phone.isAnswering.value}
          onAnswer={(withVideo) => phone.answer({ withVideo })}
          onReject={() => phone.hangUp()}
        />
      ) : shape === 'corner' ? (
        <CornerCall {...shown} onEnlarge={() => (isSmall.value = false)} onHangUp={() => phone.hangUp()} />
      ) : (
        <CallScreen
          {...shown}
          quality={phone.quality.value}
          picture={media.picture.value}
          notices={notices.value}
          onNoticeDone={(id) => (notices.value = notices.value.filter((notice) => notice.id !== id))}
          onShrink={() => (isSmall.value = true)}
          onResumePicture={() => phone.change((own) => own.resumePicture())}
        >
          <CallControls
            isMuted={media.isMuted.value}
            picture={media.picture.value?.kind}
            devices={media.devices.value}
            used={media.used.value}
            onMute={(isMuted) => phone.change((own) => own.setMuted(isMuted))}
            onCamera={(isOn) => phone.change((own) => own.setCamera(isOn))}
            onSwitchCamera={() => phone.change((own) => own.switchCamera())}
            onShare={(isOn) => phone.share(isOn)}
            onChoose={(device) => phone.change((own) => own.choose(device.kind, device.deviceId))}
            onHangUp={() => phone.hangUp()}
          />
        </CallScreen>
      )}
    </CallWindow>
  )
}
