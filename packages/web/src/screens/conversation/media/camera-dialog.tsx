// Takes a picture with the camera, which is on only while this dialog is open.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { mediaTexts } from '../../../texts/media.ts'
import { texts } from '../../../texts/texts.ts'
import { notifyDevice } from './devices.ts'

interface CameraDialogProps {
  readonly onTaken: (picture: File) => void
  readonly onClose: () => void
}

export function CameraDialog({ onTaken, onClose }: CameraDialogProps) {
  const video = useRef<HTMLVideoElement>(null)
  const actions = useRef<HTMLDivElement>(null)
  const [isOn, setOn] = useState(false)
  const t = mediaTexts.value
  useEffect(() => {
    const opened = navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
    let isClosed = false
    opened.then(
      (stream) => {
        if (video.current && !isClosed) video.current.srcObject = stream
      },
      (error: unknown) => {
        notifyDevice(error)
        onClose()
      },
    )
    return () => {
      isClosed = true
      opened.then(stopAll, () => {
        // It was said why the camera did not open.
      })
    }
  }, [])
  useLayoutEffect(() => {
    // Enter takes the picture.
    if (isOn) actions.current?.querySelector<HTMLElement>('.button-primary')?.focus()
  }, [isOn])
  const take = async (): Promise<void> => {
    const { current } = video
    if (!current) return
    const canvas = new OffscreenCanvas(current.videoWidth, current.videoHeight)
    canvas.getContext('2d')?.drawImage(current, 0, 0)
    const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.92 })
    onTaken(new File([blob], `${t.picture}.jpg`, { type: blob.type }))
  }
  return (
    <Dialog
      title={t.camera}
      onClose={onClose}
      actions={
        <div ref={actions} class="dialog-actions">
          <Button onClick={onClose}>{texts.value.common.cancel}</Button>
          <Button kind="primary" icon="camera" isDisabled={!isOn} onClick={() => void take()}>
            {t.takePicture}
          </Button>
        </div>
      }
    >
      <video ref={video} class="camera" autoplay muted playsInline onLoadedData={() => setOn(true)} />
    </Dialog>
  )
}

function stopAll(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}
