// What can be sent besides text: chosen, dropped or pasted, and what of it is under way.
import { useComputed } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Menu } from '../../../parts/menu.tsx'
import { notifyError } from '../../../session/notices.ts'
import { Uploads } from '../../../session/uploads.ts'
import { useSession } from '../../../session/use-session.ts'
import { texts } from '../../../texts/texts.ts'
import { CameraDialog } from './camera-dialog.tsx'
import { hasCamera } from './devices.ts'
import { SendDialog } from './send-dialog.tsx'
import type { Choice } from './sendables.ts'
import { UploadList } from './upload-list.tsx'
import './attachments.css'
import './media.css'

interface AttachmentsProps {
  readonly conversationId: string
  /** The id of the message that is being answered; calling it ends the answer. */
  readonly takeReply: () => string | undefined
}

export function Attachments({ conversationId, takeReply }: AttachmentsProps) {
  const { client } = useSession()
  const uploads = Uploads.of(client)
  const here = useComputed(() => uploads.list.value.filter((each) => each.conversationId === conversationId))
  const [chosen, choose] = useState<readonly File[]>()
  const pictures = useRef<HTMLInputElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const t = texts.value.media
  const [isCameraOpen, setCameraOpen] = useState(false)
  const isWithCamera = useCamera()
  const isDropping = useDroppedAndPasted((given) => choose(given))

  const send = (choices: readonly Choice[], isOriginal: boolean): void => {
    let replyToId = takeReply()
    for (const { file, smaller } of choices) {
      uploads.add({
        kind: smaller ? 'image' : 'file',
        conversationId,
        blob: smaller && !isOriginal ? smaller : file,
        name: file.name,
        ...(replyToId === undefined ? {} : { replyToId }),
      })
      replyToId = undefined
    }
  }
  const input = (kind: 'pictures' | 'files') => (
    <input
      ref={kind === 'pictures' ? pictures : files}
      type="file"
      multiple
      hidden
      accept={kind === 'pictures' ? 'image/*' : undefined}
      aria-label={t[kind]}
      onChange={({ currentTarget }) => {
        const given = [...(currentTarget.files ?? [])]
        // The same file can be chosen once more.
        currentTarget.value = ''
        if (given.length > 0) choose(given)
      }}
    />
  )
  return (
    <>
      <UploadList
        list={here.value}
        onCancel={(id) => uploads.cancel(id)}
        onRetry={(id) => uploads.retry(id)}
      />
      <Menu
        label={t.attach}
        icon="attach"
        items={[
          { label: t.pictures, icon: 'image', onClick: () => pictures.current?.click() },
          { label: t.files, icon: 'file', onClick: () => files.current?.click() },
          isWithCamera && { label: t.camera, icon: 'camera', onClick: () => setCameraOpen(true) },
        ]}
      />
      {input('pictures')}
      {input('files')}
      {isDropping && <div class="drop-target">{t.dropHere}</div>}
      {isCameraOpen && (
        <CameraDialog
          onTaken={(picture) => {
            setCameraOpen(false)
            choose([picture])
          }}
          onClose={() => setCameraOpen(false)}
        />
      )}
      {chosen && <SendDialog files={chosen} onSend={send} onClose={() => choose(undefined)} />}
    </>
  )
}

/** Whether there is a camera, which may be plugged in later. */
function useCamera(): boolean {
  const [isThere, setThere] = useState(false)
  useEffect(() => {
    const look = (): void => {
      hasCamera().then(setThere, notifyError)
    }
    look()
    const { mediaDevices } = navigator
    mediaDevices?.addEventListener('devicechange', look)
    return () => mediaDevices?.removeEventListener('devicechange', look)
  }, [])
  return isThere
}

/** Calls `onFiles` with files that are dropped or pasted. Returns whether some are above the page. */
function useDroppedAndPasted(onFiles: (files: readonly File[]) => void): boolean {
  const [isDropping, setDropping] = useState(false)
  useEffect(() => {
    const take = (event: Event, data: DataTransfer | null): void => {
      const files = [...(data?.files ?? [])]
      if (files.length === 0 || document.querySelector('dialog[open]')) return
      event.preventDefault()
      onFiles(files)
    }
    const hasFiles = ({ dataTransfer }: DragEvent): boolean => !!dataTransfer?.types.includes('Files')
    const onDrag = (event: DragEvent): void => {
      if (!hasFiles(event)) return
      // Without it, the browser would leave the app and show the file.
      event.preventDefault()
      setDropping(event.type === 'dragover')
    }
    const onLeave = ({ relatedTarget }: DragEvent): void => {
      if (relatedTarget === null) setDropping(false)
    }
    const onDrop = (event: DragEvent): void => {
      onDrag(event)
      take(event, event.dataTransfer)
    }
    const onPaste = (event: ClipboardEvent): void => take(event, event.clipboardData)
    addEventListener('dragover', onDrag)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDrop)
    addEventListener('paste', onPaste)
    return () => {
      removeEventListener('dragover', onDrag)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDrop)
      removeEventListener('paste', onPaste)
    }
  }, [])
  return isDropping
}
