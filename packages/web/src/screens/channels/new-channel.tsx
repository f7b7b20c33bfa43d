// Creates a channel, and orders a seat for it if all seats are taken.
import { useSignal } from '@preact/signals'
import { Channels, ClientError } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { Switch } from '../../parts/field.tsx'
import { Screen } from '../../parts/screen.tsx'
import { notifyError } from '../../session/notices.ts'
import { go, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { channelsChanged } from './changed.ts'
import { ChannelFields } from './channel-fields.tsx'

export function NewChannel() {
  const { client } = useSession()
  const module = new Channels(client)
  const name = useSignal('')
  const description = useSignal('')
  const isPublic = useSignal(true)
  const isBusy = useSignal(false)
  const isFull = useSignal(false)
  const t = texts.value.channels

  const create = async (): Promise<void> => {
    isBusy.value = true
    try {
      const id = await module.create({
        name: name.value.trim(),
        description: description.value.trim(),
        isPublic: isPublic.value,
      })
      go(href('channels', id))
    } catch (error) {
      isFull.value = error instanceof ClientError && error.refusal === 'QUOTA_EXCEEDED'
      if (!isFull.value) notifyError(error)
    }
    // Also if it is unknown whether it was created: then the list shows it.
    channelsChanged()
    isBusy.value = false
  }
  const buySeat = async (): Promise<void> => {
    isBusy.value = true
    try {
      go(href('shop', 'orders', (await module.buyQuota()).order_id))
    } catch (error) {
      notifyError(error)
      // The list of orders shows whether there is one more.
      if (error instanceof ClientError && error.code === 'OUTCOME_UNKNOWN') go(href('shop', 'orders'))
    }
    isBusy.value = false
  }
  return (
    <Screen title={t.create} back={href('channels')}>
      <div class="column">
        <p class="banner channels-public">{t.publicText}</p>
        <form
          class="card"
          onSubmit={(event) => {
            event.preventDefault()
            void create()
          }}
        >
          <ChannelFields name={name} description={description} />
          <Switch
            label={t.listed}
            hint={t.listedHint}
            isOn={isPublic.value}
            onChange={(isOn) => (isPublic.value = isOn)}
          />
          <Button kind="primary" isSubmit isBusy={isBusy.value} isDisabled={name.value.trim() === ''}>
            {t.create}
          </Button>
        </form>
        {isFull.value && (
          <div class="card" role="alert">
            <h2>{t.fullTitle}</h2>
            <p>{t.fullText}</p>
            <Button isBusy={isBusy.value} onClick={buySeat}>
              {t.buySeat}
            </Button>
          </div>
        )}
      </div>
    </Screen>
  )
}
