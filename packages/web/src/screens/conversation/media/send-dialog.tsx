// Shows what was chosen before it is sent, and asks how pictures are sent.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Button, IconButton } from '../../../parts/button.tsx'
import { Choice as Choices } from '../../../parts/choice.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { TextField } from '../../../parts/field.tsx'
import { Form } from '../../../parts/form.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { notifyError } from '../../../session/notices.ts'
import { sizeOf } from '../../../texts/dates.ts'
import { mediaTexts } from '../../../texts/media.ts'
import { texts } from '../../../texts/texts.ts'
import { harmlessName } from './file-name.ts'
import { type Choice, choicesOf } from './sendables.ts'

/** How what was chosen is sent. */
export interface SendChoice {
  /** Pictures as they are. */
  readonly isOriginal: boolean
  /** Words for all of it; empty if there are none. */
  readonly caption: string
}

interface SendDialogProps {
  readonly files: readonly File[]
  /** Sends what is left. */
  readonly onSend: (choices: readonly Choice[], how: SendChoice) => void
  readonly onClose: () => void
}

export function SendDialog({ files, onSend, onClose }: SendDialogProps) {
  const [choices, setChoices] = useState<readonly Choice[]>()
  const [size, setSize] = useState<'smaller' | 'original'>('smaller')
  const [caption, setCaption] = useState('')
  const actions = useRef<HTMLDivElement>(null)
  const t = mediaTexts.value
  useEffect(() => {
    choicesOf(files).then(setChoices, (error: unknown) => {
      notifyError(error)
      onClose()
    })
  }, [])
  useLayoutEffect(() => {
    // Enter sends it.
    if (choices) actions.current?.querySelector<HTMLElement>('.button-primary')?.focus()
  }, [choices !== undefined])
  const pictures = choices?.filter(({ smaller }) => smaller) ?? []
  const bytes = (of: (choice: Choice) => number): string =>
    sizeOf(pictures.reduce((sum, choice) => sum + of(choice), 0))
  const isAnimated = pictures.some((choice) => choice.isAnimated)
  const send = (): void => {
    if (!choices || choices.length === 0) return
    onSend(choices, { isOriginal: size === 'original', caption: caption.trim() })
    onClose()
  }
  return (
    <Dialog
      title={t.sendTitle(choices?.length ?? files.length)}
      onClose={onClose}
      actions={
        <div ref={actions} class="dialog-actions">
          <Button onClick={onClose}>{texts.value.common.cancel}</Button>
          <Button
            kind="primary"
            icon="send"
            isBusy={!choices}
            isDisabled={choices?.length === 0}
            onClick={send}
          >
            {choices ? t.send : t.preparing}
          </Button>
        </div>
      }
    >
      <ul class="send-list">
        {choices?.map((choice) => (
          <ChoiceRow
            key={choice}
            choice={choice}
            isOriginal={size === 'original'}
            onRemove={() => setChoices(choices.filter((each) => each !== choice))}
          />
        ))}
      </ul>
      <Form onSubmit={send}>
        <TextField
          label={t.caption}
          value={caption}
          onInput={setCaption}
          autocomplete="off"
          maxLength={10_000}
        />
      </Form>
      {pictures.length > 0 && (
        <Choices
          label={t.pictureSize}
          value={size}
          options={[
            {
              value: 'smaller',
              label: `${t.smaller} (${bytes(({ smaller }) => smaller?.size ?? 0)})`,
              hint: isAnimated ? `${t.smallerHint} ${t.animationHint}` : t.smallerHint,
            },
            {
              value: 'original',
              label: `${t.original} (${bytes(({ file }) => file.size)})`,
              hint: t.originalHint,
            },
          ]}
          onChange={setSize}
        />
      )}
      {choices && pictures.length < choices.length && <p class="small soft">{t.filesHint}</p>}
    </Dialog>
  )
}

interface ChoiceRowProps {
  readonly choice: Choice
  readonly isOriginal: boolean
  readonly onRemove: () => void
}

function ChoiceRow({ choice: { file, smaller }, isOriginal, onRemove }: ChoiceRowProps) {
  const url = useMemo(() => smaller && URL.createObjectURL(smaller), [smaller])
  useEffect(() => () => url && URL.revokeObjectURL(url), [url])
  const name = harmlessName(file.name)
  return (
    <li class="send-item">
      {url ? (
        <img class="send-picture" src={url} alt="" />
      ) : (
        <span class="file-icon">
          <Icon name="file" />
        </span>
      )}
      <span class="file-text">
        <bdi class="one-line">{name}</bdi>
        <span class="small soft number">{sizeOf(smaller && !isOriginal ? smaller.size : file.size)}</span>
      </span>
      <IconButton icon="close" label={mediaTexts.value.remove(name)} onClick={onRemove} />
    </li>
  )
}
