// Files that are dropped on the page, or pasted.
import { useLayoutEffect, useState } from 'preact/hooks'

/** Calls `onFiles` with files that are dropped or pasted. Returns whether some are above the page. */
export function useDroppedFiles(onFiles: (files: readonly File[]) => void): boolean {
  const [isDropping, setDropping] = useState(false)
  useLayoutEffect(() => {
    const take = (event: Event, data: DataTransfer | null): void => {
      const files = [...(data?.files ?? [])]
      if (files.length === 0 || document.querySelector('dialog[open]')) return
      event.preventDefault()
      onFiles(files)
    }
    const hasFiles = ({ dataTransfer }: DragEvent): boolean => !!dataTransfer?.types.includes('Files')
    const onDrag = (event: DragEvent): void => {
      if (!hasFiles(event)) return
      // Otherwise the browser would leave the app and show the file.
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
    const onPaste = (event: ClipboardEvent): void => {
      if (!isText(event.clipboardData)) take(event, event.clipboardData)
    }
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

/**
 * Whether a text was copied from a program that also gives a picture of it, as word processors do. A file
 * that was copied has its own name.
 */
function isText(data: DataTransfer | null): boolean {
  const files = [...(data?.files ?? [])]
  return files.every(({ name }) => name === 'image.png') && (data?.getData('text/plain') ?? '').trim() !== ''
}
