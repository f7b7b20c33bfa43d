// The fields of a channel: its name and its description.
import type { Signal } from '@preact/signals'
import { TextField } from '../../parts/field.tsx'
import { channelsTexts } from '../../texts/channels.ts'

interface ChannelFieldsProps {
  readonly name: Signal<string>
  readonly description: Signal<string>
}

export function ChannelFields({ name, description }: ChannelFieldsProps) {
  const t = channelsTexts.value
  return (
    <>
      <TextField
        label={t.name}
        value={name.value}
        onInput={(value) => (name.value = value)}
        maxLength={64}
        autocomplete="off"
        required
      />
      <TextField
        label={t.description}
        value={description.value}
        onInput={(value) => (description.value = value)}
        hint={t.descriptionHint}
        maxLength={1024}
        rows={3}
      />
    </>
  )
}
