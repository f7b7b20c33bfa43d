// A file in the conversation: its name and size, and a button that downloads and saves it.
import { useState } from 'preact/hooks'
import { IconButton } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/dialog.tsx'
import { Icon } from '../../../parts/icon.tsx'
import type { MediaFile } from '../../../session/media-files.ts'
import { percentOf, sizeOf } from '../../../texts/dates.ts'
import { explainMedia } from '../../../texts/explain-media.ts'
import { mediaTexts } from '../../../texts/media.ts'
import { canRun, harmlessName, partsOf } from './file-name.ts'
import { save } from './save.ts'

interface FileCardProps {
  readonly file: MediaFile
  readonly name: string
  readonly sizeBytes: number
  readonly isFocusable: boolean
}

export function FileCard({ file, name: said, sizeBytes, isFocusable }: FileCardProps) {
  const [isAsking, setAsking] = useState(false)
  const state = file.state.value
  const t = mediaTexts.value
  const name = harmlessName(said)
  const { stem, ending } = partsOf(name)
  const fetchAndSave = async (): Promise<void> => {
    await file.load()
    const loaded = file.state.value
    if (loaded.kind === 'ready') save(loaded.blob, name)
  }
  const isLoading = state.kind === 'waiting' || state.kind === 'loading'
  return (
    <div class="file">
      <span class="file-icon">
        <Icon name="file" />
      </span>
      <span class="file-text">
        <bdi class="file-name" title={name}>
          <span class="one-line">{stem}</span>
          <span>{ending}</span>
        </bdi>
        <span class="small soft number">
          {state.kind === 'loading' && state.totalBytes
            ? t.percent(percentOf(Math.min(1, state.doneBytes / state.totalBytes)))
            : sizeOf(sizeBytes)}
        </span>
      </span>
      {isLoading ? (
        <IconButton
          icon="close"
          label={t.cancelDownload}
          isSkipped={!isFocusable}
          onClick={() => file.cancel()}
        />
      ) : (
        <IconButton
          icon="download"
          label={t.saveFile(name)}
          isSkipped={!isFocusable}
          onClick={() => (canRun(name) ? setAsking(true) : void fetchAndSave())}
        />
      )}
      {state.kind === 'failed' && (
        <p class="small media-error" role="alert">
          {explainMedia(state.error)}
        </p>
      )}
      {state.kind === 'ready' && !state.isProven && <p class="small soft media-note">{t.unproven}</p>}
      {isAsking && (
        <Confirm
          title={t.canRunTitle}
          text={t.canRun(name)}
          action={t.save}
          isDangerous
          onConfirm={() => void fetchAndSave()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}
