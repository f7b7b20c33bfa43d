// Accounts: found by alias, nickname or uuid, as by `sotto accounts`.
import { useState } from 'preact/hooks'
import { Switch } from '../parts/choice.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty } from '../parts/state.tsx'
import { href, route } from '../session/route.ts'
import { adminModerationTexts } from '../texts/admin-moderation.ts'
import { dateAndTime } from '../texts/dates.ts'
import { AccountPage } from './account-page.tsx'
import { Answered } from './answered.tsx'
import { useAnswer } from './use-answer.ts'
import './items.css'

const MOST = 200

export function AccountsPage() {
  const [, alias] = route.value.path
  return alias === undefined ? <AccountList /> : <AccountPage key={alias} alias={alias} />
}

function AccountList() {
  const t = adminModerationTexts.value.accounts
  const [text, seek] = useState('')
  const [suspended, setSuspended] = useState(false)
  const read = useAnswer('accounts.find', { input: { text, suspended, limit: MOST } })
  return (
    <>
      <SearchField label={t.search} onSearch={seek} maxLength={64} />
      <div class="admin-switch">
        <Switch label={t.suspendedOnly} isOn={suspended} onChange={setSuspended} />
      </div>
      <Answered read={read}>
        {(accounts) =>
          accounts.length === 0 ? (
            <Empty icon="contacts" title={t.none} />
          ) : (
            <>
              <ul class="items">
                {accounts.map((account) => (
                  <li key={account.uuid}>
                    <a class="item" href={href('accounts', account.alias_id)}>
                      <span class="item-main">
                        <span>
                          <bdi>{account.nickname}</bdi> <bdi class="code soft">{account.alias_id}</bdi>
                        </span>
                        <span class="soft small">{t.since(dateAndTime(Date.parse(account.created_at)))}</span>
                      </span>
                      {account.suspended && (
                        <span class="item-end">
                          <span class="mark" data-kind="danger">
                            {t.suspended}
                          </span>
                        </span>
                      )}
                    </a>
                  </li>
                ))}
              </ul>
              {accounts.length === MOST && <p class="soft">{t.more}</p>}
            </>
          )
        }
      </Answered>
    </>
  )
}
