// A call that rings.
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { callsTexts } from '../../texts/calls.ts'

interface RingingCallProps {
  readonly name: string
  readonly conversationId: string
  /** The caller sends video. */
  readonly hasVideo: boolean
  readonly isBusy: boolean
  readonly onAnswer: (withVideo: boolean) => void
  readonly onReject: () => void
}

export function RingingCall(props: RingingCallProps) {
  const { name, conversationId, hasVideo, isBusy, onAnswer, onReject } = props
  const t = callsTexts.value
  return (
    <div class="call-card">
      <div class="call-card-person">
        <span class="call-pulse">
          <Avatar name={name} seed={conversationId} />
        </span>
        <p role="alert">
          <bdi class="call-card-name">{name}</bdi>
          <span class="soft">{hasVideo ? t.incomingVideo : t.incomingCall}</span>
        </p>
      </div>
      <div class="call-card-buttons">
        <Button kind="danger" icon="hangUp" onClick={onReject}>
          {t.reject}
        </Button>
        <Button
          kind={hasVideo ? 'plain' : 'primary'}
          icon="call"
          isDisabled={isBusy}
          onClick={() => onAnswer(false)}
        >
          {t.answer}
        </Button>
        <Button
          kind={hasVideo ? 'primary' : 'plain'}
          icon="video"
          isDisabled={isBusy}
          onClick={() => onAnswer(true)}
        >
          {t.answerVideo}
        </Button>
      </div>
    </div>
  )
}
