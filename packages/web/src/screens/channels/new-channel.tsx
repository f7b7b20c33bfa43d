// Creates a channel, and orders a seat for it if all seats are taken.
import { useSignal } from '@preact/signals'
import { Channels, ClientError } from '@sotto/client'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { Switch } from '../../parts/choice.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { Screen } from '../../parts/screen.tsx'
import { whileBusy } from '../../parts/while-busy.ts'
import { notifyError } from '../../session/notices.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { channelsTexts } from '../../texts/channels.ts'
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
  /** It is not known whether the relay created it. */
  const isUnknown = useSignal(false)
  const t = channelsTexts.value

  const create = async (): Promise<void> => {
    const go = goFromHere()
    isUnknown.value = false
    try {
      const id = await module.create({
        name: name.value.trim(),
        description: description.value.trim(),
        isPublic: isPublic.value,
      })
      go(href('channels', id))
    } catch (error) {
      isFull.value = error instanceof ClientError && error.refusal === 'QUOTA_EXCEEDED'
      isUnknown.value = error instanceof ClientError && error.code === 'OUTCOME_UNKNOWN'
      if (!isFull.value && !isUnknown.value) notifyError(error)
    }
    // If it is unknown whether it was created, the list shows it now.
    channelsChanged()
  }
  const buySeat = async (): Promise<void> => {
    const go = goFromHere()
    try {
      go(href('shop', 'orders', (await module.buyQuota()).order_id))
    } catch (error) {
      notifyError(error)
      // The list of orders shows whether there is one more.
      if (error instanceof ClientError && error.code === 'OUTCOME_UNKNOWN') go(href('shop', 'orders'))
    }
  }
  return (
    <Screen title={t.create} back={href('channels')}>
      <div class="column">
        <p class="banner channels-public">{t.publicText}</p>
        <Form class="card" busy={isBusy} onSubmit={create}>
          <ChannelFields name={name} description={description} />
          <Switch
            label={t.listed}
            hint={t.listedHint}
            isOn={isPublic.value}
            onChange={(isOn) => (isPublic.value = isOn)}
          />
          <SubmitButton kind="primary" isDisabled={name.value.trim() === ''}>
            {t.create}
          </SubmitButton>
        </Form>
        {isUnknown.value && (
          <div class="card" role="alert">
            <h2>{t.unknownTitle}</h2>
            <p>{t.unknownText}</p>
            <ButtonLink href={href('channels')}>{t.toChannels}</ButtonLink>
          </div>
        )}
        {isFull.value && (
          <div class="card" role="alert">
            <h2>{t.fullTitle}</h2>
            <p>{t.fullText}</p>
            <Button isBusy={isBusy.value} onClick={() => whileBusy(isBusy, buySeat)}>
              {t.buySeat}
            </Button>
          </div>
        )}
      </div>
    </Screen>
  )
}
