// Shows and plays a stream.
import { useEffect, useRef } from 'preact/hooks'

interface StreamViewProps {
  readonly class: string
  readonly label?: string
  readonly stream: MediaStream | undefined
  /** One's own sound is never played. */
  readonly isMuted?: boolean
  readonly isHidden?: boolean
  /** The id of the speaker. */
  readonly sinkId?: string | undefined
}

export function StreamView({ class: name, label, stream, isMuted, isHidden, sinkId }: StreamViewProps) {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    const element = video.current
    if (!element) return
    element.srcObject = stream ?? null
    return () => {
      element.srcObject = null
    }
  }, [stream])
  useEffect(() => {
    // Some browsers cannot choose the speaker.
    if (sinkId !== undefined && video.current && 'setSinkId' in video.current)
      void video.current.setSinkId(sinkId)
  }, [sinkId])
  return (
    <video
      ref={video}
      class={name}
      aria-label={label}
      autoplay
      playsInline
      muted={isMuted}
      hidden={isHidden}
    />
  )
}
