// The security code of a contact: compared by reading, then the contact is verified. If the keys have
// changed, it says so loudly, and what to do.
import { useSignal } from '@preact/signals'
import type { Conversation, TrustState } from '@sotto/client'
import { useEffect } from 'preact/hooks'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { attempt, notify, notifyError } from '../../session/notices.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { fullTime } from '../../texts/dates.ts'
import { scanTexts } from '../../texts/scan.ts'
import { trustTexts } from '../../texts/trust.ts'
import { CodeGroups } from './code-groups.tsx'
import { KeysChanged } from './keys-changed.tsx'
import { securityCodeText, understand } from './scanned.ts'
import { SecrecyCard } from './secrecy-card.tsx'

const Scanner = lazy(async () => (await import('./scanner.tsx')).Scanner)

interface Known {
  readonly code: string
  /** The code of the changed keys when this was read. */
  readonly changedCode: string | undefined
  readonly trust: TrustState
}

export function SecurityCode({ conversationId }: { readonly conversationId: string }) {
  const { conversations } = useSession()
  const contact = conversations.value?.find((each) => each.conversationId === conversationId)
  return (
    <Screen title={trustTexts.value.title} back={href('contacts', conversationId)}>
      {!conversations.value ? (
        <Loading />
      ) : contact ? (
        <Code contact={contact} />
      ) : (
        <Empty
          icon="contacts"
          title={contactsTexts.value.unknown}
          action={<ButtonLink href={href('contacts')}>{contactsTexts.value.title}</ButtonLink>}
        />
      )}
    </Screen>
  )
}

function Code({ contact }: { readonly contact: Conversation }) {
  const { client, network } = useSession()
  const known = useSignal<Known | undefined>(undefined)
  const isScanning = useSignal(false)
  const { conversationId, contactId, changedCode, isVerified } = contact
  const name = contact.name ?? contact.nickname
  const t = trustTexts.value

  useEffect(() => {
    let isOver = false
    Promise.all([client.securityCode(conversationId), client.trustState(conversationId)]).then(
      ([{ displayCode }, trust]) => {
        if (!isOver) known.value = { code: displayCode, changedCode, trust }
      },
      // After a change the code is read again, so an error of the earlier reading does not matter.
      (error: unknown) => isOver || notifyError(error),
    )
    return () => {
      isOver = true
    }
  }, [conversationId, changedCode, isVerified])

  /** Verifies with the code that was shown. It is refused if the keys have changed since. */
  const verify = async (code: string): Promise<void> => {
    await attempt(async () => {
      const isSame = await client.verifySecurityCode(contactId, code)
      notify(isSame ? t.isVerified(name) : t.notTheSame, { kind: isSame ? 'info' : 'error' })
    })
  }
  const renew = async (comparedCode?: string): Promise<void> => {
    const go = goFromHere()
    const isRenewed = await attempt(async () => {
      await client.renewSession(contactId)
      // The relay may have given the two accounts a new conversation.
      const renewed = await client.conversation(contactId)
      if (renewed.conversationId !== conversationId)
        go(href('contacts', renewed.conversationId, 'code'), { replace: true })
    })
    if (!isRenewed) return
    if (comparedCode === undefined) notify(t.renewed)
    else await verify(comparedCode)
  }
  /** The code on the other one's screen. */
  const compare = (text: string): void => {
    isScanning.value = false
    const scanned = understand(text)
    if (scanned.kind !== 'securityCode') notify(scanTexts.value.notASecurityCode, { kind: 'error' })
    else if (scanned.code === known.value?.code.replaceAll(' ', '')) void verify(scanned.code)
    else notify(scanTexts.value.differs, { kind: 'error' })
  }
  const takeBack = async (): Promise<void> => {
    if (await attempt(() => client.resetTrust(conversationId))) notify(t.isUnverified(name))
  }
  // If the keys were replaced meanwhile, the code is another one.
  if (!known.value || known.value.changedCode !== changedCode) return <Loading />
  const { code, trust } = known.value
  if (changedCode !== undefined)
    return (
      <KeysChanged
        name={name}
        newCode={changedCode}
        oldCode={code}
        isOnline={network.value === 'connected'}
        onRenew={renew}
      />
    )
  return (
    <div class="column">
      <div class="card contacts-person">
        {isVerified && trust.status === 'verified' ? (
          <p class="contacts-verified">
            <Icon name="shield" />
            <span>
              <strong>{t.verified}</strong> {t.verifiedSince(fullTime(trust.verifiedAt))}
            </span>
          </p>
        ) : (
          <p>{t.how(name)}</p>
        )}
        <CodeGroups code={code} />
        <QrCode text={securityCodeText(code)} label={t.qr} />
        {isVerified ? (
          <Button onClick={takeBack}>{t.takeBack}</Button>
        ) : (
          <>
            <Button kind="primary" icon="check" onClick={() => verify(code)}>
              {t.same}
            </Button>
            {isScanning.value ? (
              <Scanner onText={compare} onClose={() => (isScanning.value = false)} />
            ) : (
              <Button icon="qr" onClick={() => (isScanning.value = true)}>
                {scanTexts.value.scan}
              </Button>
            )}
            <p class="soft small">{t.different}</p>
          </>
        )}
      </div>
      <SecrecyCard contact={contact} />
    </div>
  )
}
