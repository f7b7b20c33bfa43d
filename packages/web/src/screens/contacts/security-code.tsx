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
import { go, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { fullTime } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { CodeGroups } from './code-groups.tsx'
import { KeysChanged } from './keys-changed.tsx'
import { securityCodeText, understand } from './scanned.ts'

const Scanner = lazy(async () => (await import('./scanner.tsx')).Scanner)

interface Known {
  readonly code: string
  readonly trust: TrustState
}

export function SecurityCode({ conversationId }: { readonly conversationId: string }) {
  const { conversations } = useSession()
  const t = texts.value
  const contact = conversations.value?.find((each) => each.conversationId === conversationId)
  return (
    <Screen title={t.trust.title} back={href('contacts', conversationId)}>
      {!conversations.value ? (
        <Loading />
      ) : contact ? (
        <Code contact={contact} />
      ) : (
        <Empty
          icon="contacts"
          title={t.contacts.unknown}
          action={<ButtonLink href={href('contacts')}>{t.contacts.title}</ButtonLink>}
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
  const t = texts.value.trust

  useEffect(() => {
    let isOver = false
    Promise.all([client.securityCode(conversationId), client.trustState(conversationId)]).then(
      ([{ displayCode }, trust]) => {
        if (!isOver) known.value = { code: displayCode, trust }
      },
      notifyError,
    )
    return () => {
      isOver = true
    }
  }, [conversationId, changedCode, isVerified])

  /** Verifies with the code that was shown: if the keys have changed since, it is refused. */
  const verify = async (code: string): Promise<void> => {
    await attempt(async () => {
      const isSame = await client.verifySecurityCode(contactId, code)
      notify(isSame ? t.isVerified(name) : t.notTheSame, { kind: isSame ? 'info' : 'error' })
    })
  }
  const renew = async (comparedCode?: string): Promise<void> => {
    const isRenewed = await attempt(async () => {
      await client.renewSession(contactId)
      // The relay may have given the two accounts a new conversation.
      const renewed = await client.conversation(contactId)
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
    if (scanned.kind !== 'securityCode') notify(texts.value.scan.notASecurityCode, { kind: 'error' })
    else if (scanned.code === known.value?.code.replaceAll(' ', '')) void verify(scanned.code)
    else notify(texts.value.scan.differs, { kind: 'error' })
  }
  const takeBack = async (): Promise<void> => {
    if (await attempt(() => client.resetTrust(conversationId))) notify(t.isUnverified(name))
  }
  if (!known.value) return <Loading />
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
                {texts.value.scan.scan}
              </Button>
            )}
            <p class="soft small">{t.different}</p>
          </>
        )}
      </div>
    </div>
  )
}
