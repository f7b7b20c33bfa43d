// One account with all that the relay knows about it, and what the operator can do to it.
import { Button } from '../parts/button.tsx'
import { nowMs } from '../session/clock.ts'
import { goFromHere, href } from '../session/route.ts'
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import { fullTime, numberOf, sizeOf } from '../texts/dates.ts'
import type { AccountDetail } from './answers.ts'
import type { Deed } from './deed-dialog.tsx'
import { Fact } from './fact.tsx'
import { ItemPage } from './item-page.tsx'
import { ask } from './relay-commands.ts'
import { useAnswer } from './use-answer.ts'

const DAY_MS = 86_400_000

export function AccountPage({ alias }: { readonly alias: string }) {
  const t = adminModerationTexts.value.accounts
  const read = useAnswer('accounts.show', { input: { alias_id: alias } })
  const deeds = useAnswer('deeds.list', { input: { object: alias, limit: 100 } })
  return (
    <ItemPage list="accounts" id={alias} read={read} deeds={{ title: t.deeds, read: deeds }}>
      {(account, begin) => <Account account={account} onDeed={begin} />}
    </ItemPage>
  )
}

interface AccountProps {
  readonly account: AccountDetail
  readonly onDeed: (deed: Deed) => void
}

function Account({ account, onDeed }: AccountProps) {
  const t = adminModerationTexts.value.accounts
  const { suspended, channels } = account
  return (
    <>
      {suspended && (
        <p class="banner" data-kind="danger">
          <span>
            {t.suspendedSince(fullTime(Date.parse(suspended.since)))}{' '}
            {suspended.until === null ? t.withoutEnd : t.until(fullTime(Date.parse(suspended.until)))}{' '}
            <bdi>{suspended.reason}</bdi>
          </span>
        </p>
      )}
      <section class="card">
        <h2>
          <bdi>{account.nickname}</bdi> <bdi class="code soft">{account.alias_id}</bdi>
        </h2>
        <dl class="admin-figures">
          <Fact name={t.made}>{fullTime(Date.parse(account.created_at))}</Fact>
          <Fact name={t.uuid}>
            <bdi class="code">{account.uuid}</bdi>
          </Fact>
          {account.former_aliases.length > 0 && (
            <Fact name={t.formerAliases}>
              <bdi class="code">{account.former_aliases.join(', ')}</bdi>
            </Fact>
          )}
          <Fact name={t.friends}>{numberOf(account.friends)}</Fact>
          <Fact name={t.requests}>{t.both(account.requests_sent, account.requests_received)}</Fact>
          <Fact name={t.blocks}>{t.both(account.blocks, account.blocked_by)}</Fact>
          <Fact name={t.waiting}>
            {numberOf(account.messages_waiting)} · {sizeOf(account.bytes_waiting)}
          </Fact>
          <Fact name={t.media}>
            {numberOf(account.media_blobs)} · {sizeOf(account.media_bytes)}
          </Fact>
          <Fact name={t.subscriptions}>{numberOf(account.subscriptions)}</Fact>
          <Fact name={t.orders}>{numberOf(account.orders)}</Fact>
          {channels.length > 0 && (
            <Fact name={t.channels}>
              {channels.map(({ channel_id, name }) => (
                <div key={channel_id}>
                  <bdi>{name}</bdi> <bdi class="code soft">{channel_id}</bdi>
                </div>
              ))}
            </Fact>
          )}
        </dl>
        <Deeds account={account} onDeed={onDeed} />
      </section>
    </>
  )
}

/** The buttons of what can be done to an account. */
function Deeds({ account: { alias_id, suspended }, onDeed }: AccountProps) {
  const t = adminModerationTexts.value.accounts
  const suspend: Deed = {
    title: t.suspendTitle(alias_id),
    text: t.suspendText,
    action: t.suspendDo,
    isDangerous: true,
    reference: { label: t.days, isNeeded: false },
    run: (why, days) => ask('accounts.suspend', { alias_id, why, ...endAfter(days) }),
  }
  const lift: Deed = {
    title: t.liftTitle(alias_id),
    text: t.liftText,
    action: t.liftDo,
    run: (why) => ask('accounts.lift', { alias_id, why }),
  }
  const logOut: Deed = {
    title: t.logOutTitle(alias_id),
    text: t.logOutText,
    action: t.logOutDo,
    run: (why) => ask('accounts.log-out', { alias_id, why }),
  }
  const remove: Deed = {
    title: t.deleteTitle(alias_id),
    text: t.deleteText,
    action: t.deleteDo,
    isDangerous: true,
    run: async (why) => {
      const go = goFromHere()
      await ask('accounts.delete', { alias_id, why })
      go(href('accounts'), { replace: true })
    },
  }
  return (
    <div class="item-end">
      {suspended && <Button onClick={() => onDeed(lift)}>{t.liftDo}</Button>}
      <Button onClick={() => onDeed(suspend)}>{suspended ? t.changeDo : t.suspendDo}</Button>
      <Button onClick={() => onDeed(logOut)}>{t.logOutDo}</Button>
      <Button kind="danger" onClick={() => onDeed(remove)}>
        {t.deleteDo}
      </Button>
    </div>
  )
}

/** When a suspension of so many days ends. What is no number is passed on, and the relay refuses it. */
function endAfter(days: string): { readonly until?: string } {
  if (days === '') return {}
  const at = nowMs() + Number(days) * DAY_MS
  return { until: Number.isFinite(at) ? new Date(at).toISOString() : days }
}
