// What was chosen to be sent: pictures are made smaller, everything else stays as it is.
import { scaleImage } from '@sotto/client'
import { rasterOfBlob } from './raster.ts'

/** Something that was chosen. */
export interface Choice {
  readonly file: File
  /** The same picture, smaller and without the camera's data; undefined for what is no picture. */
  readonly smaller: Blob | undefined
  readonly isAnimated: boolean
}

/** Looks at what was chosen, one after the other, because each picture needs much memory. */
export async function choicesOf(files: readonly File[]): Promise<readonly Choice[]> {
  const choices: Choice[] = []
  for (const file of files) choices.push(await choiceOf(file))
  return choices
}

async function choiceOf(file: File): Promise<Choice> {
  const raster = await rasterOfBlob(file)
  if (!raster) return { file, smaller: undefined, isAnimated: false }
  try {
    // The type is that of the bytes: the name may say something else.
    const smaller = await scaleImage(new Blob([file], { type: raster.type }))
    return { file, smaller, isAnimated: raster.type === 'image/gif' }
  } catch {
    // It begins like a picture, but this browser cannot draw it: it is sent as a file.
    return { file, smaller: undefined, isAnimated: false }
  }
}
