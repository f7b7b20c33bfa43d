// A call in the whole window: the other side's picture or avatar, one's own picture, how the call is.
import type { CallInfo, CallQuality } from '@sotto/client/browser'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, IconButton } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Notices } from '../../parts/notices.tsx'
import type { Picture } from '../../session/calls/own-media.ts'
import type { Notice } from '../../session/notices.ts'
import { callsTexts } from '../../texts/calls.ts'
import { CallStatus } from './call-status.tsx'
import { QualityMeter } from './quality-meter.tsx'
import { StreamView } from './stream-view.tsx'

interface CallScreenProps {
  readonly call: CallInfo
  readonly name: string
  readonly connectedAt: number | undefined
  readonly quality: CallQuality | undefined
  /** The id of the speaker. */
  readonly sinkId: string | undefined
  readonly picture: Picture | undefined
  /** The latest is shown: there is no room for more, and those of the page would be below this window. */
  readonly notices: readonly Notice[]
  readonly onNoticeDone: (id: number) => void
  readonly onShrink: () => void
  readonly onResumePicture: () => void
  /** The controls. */
  readonly children: ComponentChildren
}

export function CallScreen(props: CallScreenProps) {
  const { call, name, connectedAt, sinkId, picture, children } = props
  const t = callsTexts.value
  const { theirMedia, isVideoDropped } = call
  const track = picture?.track
  const own = useMemo(() => track && new MediaStream([track]), [track])
  const isMuted = call.state === 'connected' && !theirMedia.audio
  return (
    <div class="call-screen" data-pictured={theirMedia.video}>
      <StreamView
        class="call-theirs"
        label={name}
        stream={call.theirStream}
        isHidden={!theirMedia.video}
        sinkId={sinkId}
      />
      <header class="call-header">
        <IconButton icon="shrink" label={t.makeSmall} onClick={props.onShrink} />
        <div class="call-who">
          {!theirMedia.video && <Avatar name={name} seed={call.conversationId} size="large" />}
          <h1 class="one-line">
            <bdi>{name}</bdi>
          </h1>
          <CallStatus call={call} connectedAt={connectedAt} />
          {props.quality && <QualityMeter quality={props.quality} />}
          {isMuted && (
            <span class="call-muted">
              <Icon name="microphoneOff" />
              {t.theyAreMuted(name)}
            </span>
          )}
        </div>
      </header>
      {own && (
        <figure class="call-own" data-kind={picture?.kind}>
          <StreamView class="call-own-picture" label={t.ownPicture} stream={own} isMuted />
          {picture?.kind === 'screen' && <figcaption>{t.sharing}</figcaption>}
        </figure>
      )}
      {isVideoDropped && (
        <div class="call-poor" role="status">
          <p>{t.poor}</p>
          <Button onClick={props.onResumePicture}>{t.videoAgain}</Button>
        </div>
      )}
      <Notices list={props.notices.slice(-1)} onDone={props.onNoticeDone} />
      {children}
    </div>
  )
}
