// Changes the name and the description of a channel, and who finds it.
import { useSignal } from '@preact/signals'
import type { ChannelInfo, NewChannel } from '@sotto/client'
import { Choice } from '../../parts/choice.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { channelsTexts } from '../../texts/channels.ts'
import { texts } from '../../texts/texts.ts'
import { ChannelFields } from './channel-fields.tsx'

interface EditChannelProps {
  readonly channel: ChannelInfo
  readonly onSave: (changes: Partial<NewChannel>) => Promise<void>
}

export function EditChannel({ channel, onSave }: EditChannelProps) {
  const name = useSignal(channel.name)
  const description = useSignal(channel.description)
  // The relay does not tell whether the channel is listed.
  const listing = useSignal<'same' | 'listed' | 'hidden'>('same')
  const t = channelsTexts.value
  const changes: Partial<NewChannel> = {
    ...(name.value.trim() === channel.name ? {} : { name: name.value.trim() }),
    ...(description.value.trim() === channel.description ? {} : { description: description.value.trim() }),
    ...(listing.value === 'same' ? {} : { isPublic: listing.value === 'listed' }),
  }
  const save = async (): Promise<void> => {
    await onSave(changes)
    listing.value = 'same'
  }
  return (
    <Form class="card" onSubmit={save}>
      <h2>{t.edit}</h2>
      <ChannelFields name={name} description={description} />
      <Choice
        label={t.listed}
        value={listing.value}
        onChange={(value) => (listing.value = value)}
        options={[
          { value: 'same', label: t.listing.same },
          { value: 'listed', label: t.listing.listed },
          { value: 'hidden', label: t.listing.hidden },
        ]}
      />
      <SubmitButton kind="primary" isDisabled={name.value.trim() === '' || Object.keys(changes).length === 0}>
        {texts.value.common.save}
      </SubmitButton>
    </Form>
  )
}
