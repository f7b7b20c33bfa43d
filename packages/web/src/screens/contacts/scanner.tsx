// Scans a QR code with the camera, which is asked for only then, or in a picture.
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { notifyError } from '../../session/notices.ts'
import { scanTexts } from '../../texts/scan.ts'
import { texts } from '../../texts/texts.ts'
import { readQr } from './read-qr.ts'

/** The camera is looked at this often. */
const LOOK_MS = 150

interface ScannerProps {
  /** Called with the text of the code. */
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

export function Scanner({ onText, onClose }: ScannerProps) {
  const error = useSignal<string | undefined>(undefined)
  const stream = useSignal<MediaStream | undefined>(undefined)
  const isOver = useRef(false)
  const video = useRef<HTMLVideoElement>(null)
  const t = texts.value
  const words = scanTexts.value

  const stop = (): void => {
    for (const track of stream.value?.getTracks() ?? []) track.stop()
    stream.value = undefined
  }
  useEffect(
    () => () => {
      isOver.current = true
      stop()
    },
    [],
  )
  const start = async (): Promise<void> => {
    error.value = undefined
    try {
      const opened = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
      stream.value = opened
      // It was closed while the browser asked.
      if (isOver.current) stop()
    } catch {
      error.value = words.noCamera
    }
  }
  useEffect(() => {
    const shown = video.current
    if (!stream.value || !shown) return
    shown.srcObject = stream.value
    shown.play().catch(notifyError)
    const canvas = document.createElement('canvas')
    const timer = setInterval(() => {
      if (shown.videoWidth === 0) return
      const text = readQr(shown, { width: shown.videoWidth, height: shown.videoHeight }, canvas)
      if (text === undefined) return
      clearInterval(timer)
      stop()
      onText(text)
    }, LOOK_MS)
    return () => clearInterval(timer)
  }, [stream.value])

  const readFile = async (file: File | undefined): Promise<void> => {
    if (!file) return
    error.value = undefined
    try {
      const picture = await createImageBitmap(file)
      const text = readQr(picture, picture, document.createElement('canvas'))
      picture.close()
      if (text === undefined) error.value = words.noCode
      else onText(text)
    } catch {
      error.value = words.noPicture
    }
  }
  return (
    <div class="card contacts-scanner">
      {stream.value ? (
        <>
          <video ref={video} class="contacts-camera" playsInline muted aria-label={words.camera} />
          <p class="soft small">{words.hold}</p>
          <Button onClick={stop}>{words.stop}</Button>
        </>
      ) : (
        <>
          {'mediaDevices' in navigator && (
            <Button kind="primary" icon="camera" onClick={start}>
              {words.withCamera}
            </Button>
          )}
          <label class="contacts-file">
            <span class="field-label">{words.fromPicture}</span>
            <input
              type="file"
              accept="image/*"
              onChange={({ currentTarget }) => void readFile(currentTarget.files?.[0])}
            />
          </label>
          <Button kind="quiet" onClick={onClose}>
            {t.common.cancel}
          </Button>
        </>
      )}
      {error.value !== undefined && (
        <p class="field-error" role="alert">
          {error.value}
        </p>
      )}
    </div>
  )
}
