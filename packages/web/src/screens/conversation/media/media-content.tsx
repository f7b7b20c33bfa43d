// What a message with media shows: a picture, a file, a voice message.
import type { StoredMessage } from '@sotto/client'
import { contentOf } from '@sotto/client'
import { MediaFiles } from '../../../session/media-files.ts'
import { useSession } from '../../../session/use-session.ts'
import { FileCard } from './file-card.tsx'
import { Picture } from './picture.tsx'
import { useHeld, useHeldIfAny } from './use-held.ts'
import { Voice } from './voice.tsx'
import './media.css'

interface MediaContentProps {
  readonly message: StoredMessage
  readonly isFocusable: boolean
}

export function MediaContent({ message, isFocusable }: MediaContentProps) {
  const { client } = useSession()
  const content = contentOf(message)
  const mediaKey = content && content.kind !== 'text' ? content.mediaKey : ''
  const file = useHeld(MediaFiles.of(client), message.conversationId, mediaKey)
  const previewKey = content?.kind === 'image' ? content.previewKey : undefined
  const preview = useHeldIfAny(MediaFiles.of(client), message.conversationId, previewKey)
  switch (content?.kind) {
    case 'image':
      return (
        <Picture
          file={file}
          preview={preview}
          content={content}
          timeMs={message.time}
          isFocusable={isFocusable}
        />
      )
    case 'file':
      return (
        <FileCard file={file} name={content.name} sizeBytes={content.sizeBytes} isFocusable={isFocusable} />
      )
    case 'voice':
      return <Voice file={file} content={content} isFocusable={isFocusable} />
    default:
      return null
  }
}
