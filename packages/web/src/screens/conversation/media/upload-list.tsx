// What is being sent in this conversation: how far it is, and what failed.
import { IconButton } from '../../../parts/button.tsx'
import { Icon, type IconName } from '../../../parts/icon.tsx'
import type { Upload } from '../../../session/upload-job.ts'
import type { chats } from '../../../texts/en/chats.ts'
import { explainMedia } from '../../../texts/explain-media.ts'
import { mediaTexts } from '../../../texts/media.ts'
import { texts } from '../../../texts/texts.ts'
import { harmlessName } from './file-name.ts'
import { Progress } from './progress.tsx'

interface UploadListProps {
  readonly list: readonly Upload[]
  /** Another device is in use, so nothing is sent from here. */
  readonly isPaused: boolean
  readonly onCancel: (id: string) => void
  readonly onRetry: (id: string) => void
}

const ICONS: Readonly<Record<Upload['kind'], IconName>> = {
  text: 'chats',
  image: 'image',
  file: 'file',
  voice: 'microphone',
}

export function UploadList({ list, isPaused, onCancel, onRetry }: UploadListProps) {
  if (list.length === 0) return null
  return (
    <ul class="uploads" aria-label={mediaTexts.value.uploads}>
      {list.map((upload) => (
        <UploadRow
          key={upload.id}
          upload={upload}
          isPaused={isPaused}
          onCancel={onCancel}
          onRetry={onRetry}
        />
      ))}
    </ul>
  )
}

/** What is being sent, in a few words. */
function nameOf({ kind, name, source }: Upload, t: typeof chats): string {
  if (typeof source === 'string') return source
  if (kind === 'voice') return t.voice
  return name === '' ? t.image : harmlessName(name)
}

interface UploadRowProps extends Pick<UploadListProps, 'isPaused' | 'onCancel' | 'onRetry'> {
  readonly upload: Upload
}

function UploadRow({ upload, isPaused, onCancel, onRetry }: UploadRowProps) {
  const { id, kind, progress, error } = upload
  const t = texts.value
  const name = nameOf(upload, t.chats)
  const hasFailed = error.value !== undefined
  return (
    <li class="upload">
      <Icon name={hasFailed ? 'error' : ICONS[kind]} />
      <span class="upload-text">
        <bdi class="one-line">{name}</bdi>
        {hasFailed ? (
          <span class="small media-error" role="alert">
            {explainMedia(error.value)}
          </span>
        ) : isPaused ? (
          <span class="small soft">{mediaTexts.value.waitsForHere}</span>
        ) : (
          <Progress part={progress.value} />
        )}
      </span>
      {hasFailed && <IconButton icon="retract" label={t.common.tryAgain} onClick={() => onRetry(id)} />}
      <IconButton
        icon="close"
        label={hasFailed ? mediaTexts.value.forget(name) : mediaTexts.value.stop(name)}
        onClick={() => onCancel(id)}
      />
    </li>
  )
}
