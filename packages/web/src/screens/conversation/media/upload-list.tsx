// What is being sent in this conversation: how far it is, and what failed.
import { IconButton } from '../../../parts/button.tsx'
import { Icon, type IconName } from '../../../parts/icon.tsx'
import type { Upload } from '../../../session/uploads.ts'
import { explainMedia } from '../../../texts/explain.ts'
import { texts } from '../../../texts/texts.ts'
import { harmlessName } from './file-name.ts'
import { Progress } from './progress.tsx'

interface UploadListProps {
  readonly list: readonly Upload[]
  readonly onCancel: (id: number) => void
  readonly onRetry: (id: number) => void
}

const ICONS: Readonly<Record<Upload['kind'], IconName>> = {
  image: 'image',
  file: 'file',
  voice: 'microphone',
}

export function UploadList({ list, onCancel, onRetry }: UploadListProps) {
  if (list.length === 0) return null
  return (
    <ul class="uploads" aria-label={texts.value.media.uploads}>
      {list.map((upload) => (
        <UploadRow key={upload.id} upload={upload} onCancel={onCancel} onRetry={onRetry} />
      ))}
    </ul>
  )
}

interface UploadRowProps extends Pick<UploadListProps, 'onCancel' | 'onRetry'> {
  readonly upload: Upload
}

function UploadRow({ upload, onCancel, onRetry }: UploadRowProps) {
  const { id, kind, progress, error } = upload
  const t = texts.value
  const name = kind === 'voice' ? t.chats.voice : harmlessName(upload.name)
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
        ) : (
          <Progress part={progress.value} />
        )}
      </span>
      {hasFailed && <IconButton icon="retract" label={t.common.tryAgain} onClick={() => onRetry(id)} />}
      <IconButton
        icon="close"
        label={hasFailed ? t.media.forget(name) : t.media.stop(name)}
        onClick={() => onCancel(id)}
      />
    </li>
  )
}
