// A voice message in the conversation: played from anywhere by its waveform, at three speeds.
import { useSignal } from '@preact/signals'
import type { MessageContent } from '@sotto/client'
import { useRef } from 'preact/hooks'
import { Icon } from '../../../parts/icon.tsx'
import type { MediaFile } from '../../../session/media-files.ts'
import { useSession } from '../../../session/use-session.ts'
import { lengthOf, numberOf } from '../../../texts/dates.ts'
import { explainMedia } from '../../../texts/explain-media.ts'
import { mediaTexts } from '../../../texts/media.ts'
import { FileCard } from './file-card.tsx'
import { Player } from './player.ts'
import { soundTypeOf } from './sound.ts'
import { Waveform } from './waveform.tsx'
import './voice.css'

interface VoiceProps {
  readonly file: MediaFile
  readonly content: Extract<MessageContent, { kind: 'voice' }>
  readonly isFocusable: boolean
}

export function Voice({ file, content, isFocusable }: VoiceProps) {
  const { client } = useSession()
  const player = Player.of(client)
  const url = useSignal<string | undefined>(undefined)
  const canPlay = useSignal(true)
  // Where it will begin, as long as it is not played.
  const startMs = useSignal(0)
  const isStarting = useRef(false)
  const t = mediaTexts.value
  const state = file.state.value
  const current = player.playing.value
  const playing = url.value !== undefined && current?.url === url.value ? current : undefined
  const { durationMs } = content
  const positionMs = Math.min(durationMs, playing?.positionMs ?? startMs.value)
  const tabIndex = isFocusable ? 0 : -1

  const play = async (): Promise<void> => {
    if (isStarting.current) return
    isStarting.current = true
    await file.load()
    const loaded = file.state.value
    if (loaded.kind === 'ready') {
      const type = await soundTypeOf(loaded.blob)
      url.value = type && file.url(type)
      canPlay.value = url.value !== undefined && (await isPlayed(player, url.value, positionMs))
    }
    isStarting.current = false
  }
  const seek = (toMs: number): void => {
    startMs.value = toMs
    if (playing) player.seek(toMs)
  }
  const isLoading = state.kind === 'waiting' || state.kind === 'loading'
  if (!canPlay.value && state.kind === 'ready')
    return (
      <div class="media-stack">
        <p class="small soft">{t.noSound}</p>
        <FileCard file={file} name="voice" sizeBytes={state.blob.size} isFocusable={isFocusable} />
      </div>
    )
  return (
    <div class="voice">
      <button
        type="button"
        class="voice-play"
        tabIndex={tabIndex}
        aria-label={playing?.isPlaying ? t.pauseVoice : t.playVoice}
        aria-busy={isLoading}
        onClick={() => (playing?.isPlaying ? player.pause() : void play())}
      >
        {isLoading ? <span class="spinner" /> : <Icon name={playing?.isPlaying ? 'pause' : 'play'} />}
      </button>
      <Waveform
        samples={content.waveform}
        positionMs={positionMs}
        durationMs={durationMs}
        tabIndex={tabIndex}
        onSeek={seek}
      />
      <span class="voice-time small soft number">{lengthOf(positionMs > 0 ? positionMs : durationMs)}</span>
      <button
        type="button"
        class="voice-speed small number"
        tabIndex={tabIndex}
        aria-label={t.speed(numberOf(player.speed.value))}
        onClick={() => player.nextSpeed()}
      >
        {numberOf(player.speed.value)}×
      </button>
      {state.kind === 'failed' && (
        <p class="small media-error" role="alert">
          {explainMedia(state.error)}
        </p>
      )}
      {state.kind === 'ready' && !state.isProven && <p class="small soft media-note">{t.unproven}</p>}
    </div>
  )
}

/** Plays, and says whether the browser could. A browser that wants another touch first can. */
async function isPlayed(player: Player, url: string, fromMs: number): Promise<boolean> {
  try {
    await player.play(url, fromMs)
    return true
  } catch (error) {
    return !(error instanceof DOMException && error.name === 'NotSupportedError')
  }
}
