// Copies a picture as PNG, which every program that takes pictures from the clipboard understands.
import { type Client, ClientError, contentOf, type StoredMessage } from '@sotto/client'
import { MediaFiles } from '../../../session/media-files.ts'
import { notify } from '../../../session/notices.ts'
import { explainMedia } from '../../../texts/explain-media.ts'
import { texts } from '../../../texts/texts.ts'
import { rasterOfBlob } from './raster.ts'

/**
 * Copies the picture of a message, and says that it is done or why not. Call it while a click is handled:
 * browsers allow it only then, also if the download takes longer.
 */
export async function copyPicture(client: Client, message: StoredMessage): Promise<void> {
  const png = pngOf(client, message)
  try {
    // The error of the picture comes first, because that of the clipboard does not say why.
    await Promise.all([png, navigator.clipboard.write([new ClipboardItem({ 'image/png': png })])])
    notify(texts.value.common.copied)
  } catch (error) {
    notify(explainMedia(error), { kind: 'error' })
  }
}

async function pngOf(client: Client, message: StoredMessage): Promise<Blob> {
  const content = contentOf(message)
  if (content?.kind !== 'image') throw notPicture()
  const blob = await MediaFiles.of(client).blobOf(message.conversationId, content.mediaKey)
  // Its dimensions are known to be bounded before anything is decoded.
  const raster = await rasterOfBlob(blob)
  if (!raster) throw notPicture()
  const bitmap = await createImageBitmap(new Blob([blob], { type: raster.type }))
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
  bitmap.close()
  return canvas.convertToBlob({ type: 'image/png' })
}

function notPicture(): ClientError {
  return new ClientError('UNSUPPORTED', 'this message has no picture that is shown')
}
