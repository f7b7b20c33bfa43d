// The room for media while the part of the app that shows them is loaded.
import type { StoredMessage } from '@sotto/client'
import { frameOf } from './frame.ts'

export function MediaFrame({ message }: { readonly message: StoredMessage }) {
  const { width, height } = message.msgType === 'image' ? frameOf(message) : { width: 300, height: 44 }
  return <div aria-busy="true" style={{ inlineSize: `${width}px`, aspectRatio: `${width} / ${height}` }} />
}
