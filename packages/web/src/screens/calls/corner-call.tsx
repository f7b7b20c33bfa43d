// A call in a corner: while the user does something else, or while another tab has it.
import type { CallInfo } from '@sotto/client/browser'
import { Avatar } from '../../parts/avatar.tsx'
import { IconButton } from '../../parts/button.tsx'
import { callsTexts } from '../../texts/calls.ts'
import { CallStatus } from './call-status.tsx'
import { StreamView } from './stream-view.tsx'

interface CornerCallProps {
  readonly call: CallInfo
  readonly name: string
  readonly connectedAt: number | undefined
  readonly sinkId: string | undefined
  readonly onEnlarge: () => void
  readonly onHangUp: () => void
}

export function CornerCall({ call, name, connectedAt, sinkId, onEnlarge, onHangUp }: CornerCallProps) {
  const t = callsTexts.value
  const isPictured = call.theirMedia.video && !call.isElsewhere
  return (
    <div class="call-corner">
      <StreamView
        class="call-corner-picture"
        stream={call.theirStream}
        isHidden={!isPictured}
        sinkId={sinkId}
      />
      <div class="call-corner-line">
        {!isPictured && <Avatar name={name} seed={call.conversationId} size="small" />}
        <span class="call-corner-text">
          <bdi class="one-line">{name}</bdi>
          <span class="small soft">
            <CallStatus call={call} connectedAt={connectedAt} />
          </span>
        </span>
        {!call.isElsewhere && <IconButton icon="enlarge" label={t.makeLarge} onClick={onEnlarge} />}
        <IconButton icon="hangUp" label={t.hangUp} kind="danger" onClick={onHangUp} />
      </div>
    </div>
  )
}
