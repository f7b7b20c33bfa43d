// The menu of what can be sent besides text, the dialog that sends it, and what of it is under way.
import { useComputed } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Menu } from '../../../parts/menu.tsx'
import { notifyError } from '../../../session/notices.ts'
import type { Sendable } from '../../../session/sendable.ts'
import { Uploads } from '../../../session/uploads.ts'
import { useSession } from '../../../session/use-session.ts'
import { mediaTexts } from '../../../texts/media.ts'
import { texts } from '../../../texts/texts.ts'
import { CameraDialog } from './camera-dialog.tsx'
import { hasCamera } from './devices.ts'
import { type SendChoice, SendDialog } from './send-dialog.tsx'
import type { Choice } from './sendables.ts'
import { UploadList } from './upload-list.tsx'
import './attachments.css'
import './media.css'

interface AttachmentsProps {
  readonly conversationId: string
  /** Returns the id of the message that is being answered, and ends the answer. */
  readonly takeReply: () => string | undefined
  /** The files to send, once the user has chosen some. */
  readonly chosen: readonly File[] | undefined
  readonly onChoose: (files: readonly File[] | undefined) => void
  /** The button was pressed before this was loaded. */
  readonly isPressed: boolean
}

export function Attachments({ conversationId, takeReply, chosen, onChoose, isPressed }: AttachmentsProps) {
  const { client, isReplaced } = useSession()
  const uploads = Uploads.of(client)
  const here = useComputed(() => uploads.list.value.filter((each) => each.conversationId === conversationId))
  const pictures = useRef<HTMLInputElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const t = mediaTexts.value
  const [isCameraOpen, setCameraOpen] = useState(false)
  const isWithCamera = useCamera()
  const menu = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    if (isPressed) menu.current?.querySelector('button')?.click()
  }, [])

  const send = (choices: readonly Choice[], { isOriginal, caption }: SendChoice): void => {
    let replyToId = takeReply()
    const add = (sendable: Sendable): void => {
      uploads.add(replyToId === undefined ? sendable : { ...sendable, replyToId })
      replyToId = undefined
    }
    // Words for one stand below it, and those for several before them.
    const isForOne = caption !== '' && choices.length === 1
    if (caption !== '' && !isForOne) add({ kind: 'text', conversationId, source: caption, name: '' })
    for (const { file, smaller } of choices) {
      add({
        kind: smaller ? 'image' : 'file',
        conversationId,
        source: smaller && !isOriginal ? smaller : file,
        name: file.name,
        ...(isForOne ? { words: caption } : {}),
      })
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
        if (given.length > 0) onChoose(given)
      }}
    />
  )
  return (
    <>
      <UploadList
        list={here.value}
        isPaused={isReplaced.value}
        onCancel={(id) => uploads.cancel(id)}
        onRetry={(id) => uploads.retry(id)}
      />
      <span ref={menu} style={{ display: 'contents' }}>
        <Menu
          label={texts.value.conversation.attach}
          icon="attach"
          items={[
            { label: t.pictures, icon: 'image', onClick: () => pictures.current?.click() },
            { label: t.files, icon: 'file', onClick: () => files.current?.click() },
            isWithCamera && { label: t.camera, icon: 'camera', onClick: () => setCameraOpen(true) },
          ]}
        />
      </span>
      {input('pictures')}
      {input('files')}
      {isCameraOpen && (
        <CameraDialog
          onTaken={(picture) => {
            setCameraOpen(false)
            onChoose([picture])
          }}
          onClose={() => setCameraOpen(false)}
        />
      )}
      {chosen && <SendDialog files={chosen} onSend={send} onClose={() => onChoose(undefined)} />}
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
