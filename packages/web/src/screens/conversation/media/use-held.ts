// Holds a file as long as a component shows it.
import { useLayoutEffect } from 'preact/hooks'
import type { MediaFile, MediaFiles } from '../../../session/media-files.ts'

/** The file of a message, if there is one. It may leave the memory once nothing shows it. */
export function useHeldIfAny(
  files: MediaFiles,
  contact: string,
  mediaKey: string | undefined,
): MediaFile | undefined {
  const file = mediaKey === undefined ? undefined : files.get(contact, mediaKey)
  useLayoutEffect(() => file && files.hold(file), [file])
  return file
}

/** The file of a message. It may leave the memory once nothing shows it. */
export function useHeld(files: MediaFiles, contact: string, mediaKey: string): MediaFile {
  const file = files.get(contact, mediaKey)
  useLayoutEffect(() => files.hold(file), [file])
  return file
}
