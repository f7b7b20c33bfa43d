// Changes the name and the description of a channel, and who finds it.
import { useSignal } from '@preact/signals'
import type { ChannelInfo, NewChannel } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/field.tsx'
import { texts } from '../../texts/texts.ts'
import { ChannelFields } from './channel-fields.tsx'

interface EditChannelProps {
  readonly channel: ChannelInfo
  readonly onSave: (changes: Partial<NewChannel>) => Promise<void>
}

export function EditChannel({ channel, onSave }: EditChannelProps) {
  const name = useSignal(channel.name)
  const description = useSignal(channel.description)
  // The relay does not tell which of the two is the case.
  const listing = useSignal<'same' | 'listed' | 'hidden'>('same')
  const isBusy = useSignal(false)
  const t = texts.value.channels
  const changes: Partial<NewChannel> = {
    ...(name.value.trim() === channel.name ? {} : { name: name.value.trim() }),
    ...(description.value.trim() === channel.description ? {} : { description: description.value.trim() }),
    ...(listing.value === 'same' ? {} : { isPublic: listing.value === 'listed' }),
  }
  const save = async (): Promise<void> => {
    isBusy.value = true
    await onSave(changes)
    listing.value = 'same'
    isBusy.value = false
  }
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
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
      <Button
        kind="primary"
        isSubmit
        isBusy={isBusy.value}
        isDisabled={name.value.trim() === '' || Object.keys(changes).length === 0}
      >
        {texts.value.common.save}
      </Button>
    </form>
  )
}
