// Records a voice message: a button beside the field, and while it records a row with its length and level.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from '../../../parts/button.tsx'
import { Uploads } from '../../../session/uploads.ts'
import { useSession } from '../../../session/use-session.ts'
import { lengthOf } from '../../../texts/dates.ts'
import { mediaTexts } from '../../../texts/media.ts'
import { texts } from '../../../texts/texts.ts'
import { useEscape } from '../escape.ts'
import { notifyDevice } from './devices.ts'
import { Recording } from './recording.ts'
import './voice.css'

interface VoiceRecorderProps {
  readonly conversationId: string
  /** Returns the id of the message that is being answered, and ends the answer. */
  readonly takeReply: () => string | undefined
  /** Whether the button to begin is shown. */
  readonly isOffered: boolean
  /** The button was pressed before this was loaded. */
  readonly isPressed: boolean
}

export function VoiceRecorder({ conversationId, takeReply, isOffered, isPressed }: VoiceRecorderProps) {
  const { client } = useSession()
  const [recording, setRecording] = useState<Recording>()
  const [isAsking, setAsking] = useState(false)
  const running = useRef<Recording>(undefined)
  const frame = useRef<HTMLSpanElement>(null)
  const wasRecording = useRef(false)
  useLayoutEffect(() => {
    running.current = recording
    // The focus goes to the button that sends, and back to the one that begins.
    if (recording || wasRecording.current)
      frame.current?.querySelector<HTMLElement>('[data-main] button')?.focus()
    wasRecording.current = recording !== undefined
  }, [recording])
  useEffect(() => () => running.current?.cancel(), [])
  useEscape(recording !== undefined, () => recording?.pause())

  const begin = async (): Promise<void> => {
    setAsking(true)
    try {
      setRecording(await Recording.start())
    } catch (error) {
      notifyDevice(error)
    }
    setAsking(false)
  }
  const end = (): void => {
    recording?.cancel()
    setRecording(undefined)
  }
  const send = async (): Promise<void> => {
    if (!recording) return
    const { blob, durationMs } = await recording.stop()
    setRecording(undefined)
    const replyToId = takeReply()
    const reply = replyToId === undefined ? {} : { replyToId }
    Uploads.of(client).add({ kind: 'voice', conversationId, source: blob, name: '', durationMs, ...reply })
  }
  useEffect(() => {
    if (isPressed) void begin()
  }, [])
  if (!recording && !isOffered) return null
  return (
    <span ref={frame} class={recording ? 'recorder' : 'recorder-offer'}>
      {recording ? (
        <RecorderRow recording={recording} onCancel={end} onSend={() => void send()} />
      ) : (
        <span data-main>
          <IconButton
            icon="microphone"
            label={texts.value.conversation.record}
            isDisabled={isAsking}
            onClick={() => void begin()}
          />
        </span>
      )}
    </span>
  )
}

interface RecorderRowProps {
  readonly recording: Recording
  readonly onCancel: () => void
  readonly onSend: () => void
}

function RecorderRow({ recording, onCancel, onSend }: RecorderRowProps) {
  const t = mediaTexts.value
  const isPaused = recording.isPaused.value
  return (
    <>
      <IconButton icon="trash" label={t.discard} onClick={onCancel} />
      <span class="recorder-mark" data-paused={isPaused} />
      <span class="number">{lengthOf(recording.durationMs.value)}</span>
      <span class="recorder-level">
        <span style={{ transform: `scaleX(${recording.level.value})` }} />
      </span>
      <span class="spoken" role="status">
        {isPaused ? t.recordingPaused : t.recording}
      </span>
      {isPaused ? (
        <IconButton icon="microphone" label={t.resumeRecording} onClick={() => recording.resume()} />
      ) : (
        <IconButton icon="pause" label={t.pauseRecording} onClick={() => recording.pause()} />
      )}
      <span data-main>
        <IconButton icon="send" label={t.sendVoice} kind="primary" onClick={onSend} />
      </span>
    </>
  )
}
