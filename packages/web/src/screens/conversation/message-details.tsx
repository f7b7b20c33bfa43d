// Everything that is known about a message.
import { contentOf, type StoredMessage } from '@sotto/client'
import type { ComponentChildren } from 'preact'
import { Dialog } from '../../parts/dialog.tsx'
import { fullTime, numberOf, sizeOf } from '../../texts/dates.ts'
import { dialogsTexts } from '../../texts/dialogs.ts'
import { secrecyTexts } from '../../texts/secrecy.ts'
import { texts } from '../../texts/texts.ts'
import { writtenIn } from '../chats/preview.ts'
import { foldedLength } from './folding.ts'
import './details.css'

interface MessageDetailsProps {
  readonly message: StoredMessage
  readonly name: string
  readonly isVerified: boolean
  readonly onClose: () => void
}

export function MessageDetails({ message, name, isVerified, onClose }: MessageDetailsProps) {
  const t = { ...texts.value.conversation, ...dialogsTexts.value }
  const { isMe, time, status, seq, id, editedAt } = message
  const content = contentOf(message)
  const text = writtenIn(message)
  const shown = foldedLength(text ?? '')
  const bytes = content?.kind === 'text' ? new TextEncoder().encode(content.text).length : message.sizeBytes
  return (
    <Dialog title={t.details} onClose={onClose}>
      <dl class="details">
        <Detail label={t.detailFrom}>
          <bdi>{isMe ? t.you : name}</bdi>
        </Detail>
        {text !== undefined && (
          <Detail label={t.detailText}>
            <p class="details-text" dir="auto">
              {text.length > shown ? `${text.slice(0, shown)}…` : text}
            </p>
          </Detail>
        )}
        <Detail label={t.detailTime}>{fullTime(time)}</Detail>
        {editedAt !== undefined && <Detail label={t.detailEdited}>{fullTime(editedAt)}</Detail>}
        {isMe && <Detail label={t.detailStatus}>{t.marks[status]}</Detail>}
        {bytes !== undefined && <Detail label={t.detailSize}>{sizeOf(bytes)}</Detail>}
        {seq !== undefined && <Detail label={t.detailNumber}>{numberOf(seq)}</Detail>}
        <Detail label={t.detailId}>
          <span class="code small">{id}</span>
        </Detail>
        <Detail label={t.detailKey}>{isVerified ? t.keyVerified : t.keyUnverified}</Detail>
        <Detail label={secrecyTexts.value.title}>
          {message.version === 3 ? secrecyTexts.value.message : secrecyTexts.value.messageNot}
        </Detail>
      </dl>
    </Dialog>
  )
}

function Detail({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt class="small soft">{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
