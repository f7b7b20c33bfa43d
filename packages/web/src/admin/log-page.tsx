// The latest lines of the log.
import { useState } from 'preact/hooks'
import { Choice } from '../parts/choice.tsx'
import { Empty } from '../parts/state.tsx'
import { adminTexts } from '../texts/admin.ts'
import { dateAndTime } from '../texts/dates.ts'
import { Answered } from './answered.tsx'
import type { LogLine } from './answers.ts'
import { useAnswer } from './use-answer.ts'

const EVERY_MS = 5000

type Shown = 'all' | 'warn' | 'error'

/** What each choice shows. */
const LEVELS: Readonly<Record<Shown, readonly LogLine['level'][]>> = {
  all: ['error', 'warn', 'info', 'debug'],
  warn: ['error', 'warn'],
  error: ['error'],
}

export function LogPage() {
  const t = adminTexts.value.log
  const read = useAnswer('log', { everyMs: EVERY_MS })
  const [shown, show] = useState<Shown>('all')
  return (
    <Answered read={read}>
      {(lines) => {
        const chosen = lines.filter(({ level }) => LEVELS[shown].includes(level))
        return (
          <>
            <p class="soft">{t.hint}</p>
            <Choice
              label={t.show}
              value={shown}
              onChange={show}
              options={[
                { value: 'all', label: t.all },
                { value: 'warn', label: t.warnings },
                { value: 'error', label: t.errors },
              ]}
            />
            {chosen.length === 0 ? (
              <Empty icon="file" title={t.nothing} />
            ) : (
              <ol class="admin-log">
                {chosen.map((line, index) => (
                  <Line key={`${line.at} ${line.event} ${index}`} line={line} />
                ))}
              </ol>
            )}
          </>
        )
      }}
    </Answered>
  )
}

function Line({ line: { at, level, event, fields } }: { readonly line: LogLine }) {
  return (
    <li class="admin-log-line" data-level={level}>
      <time class="soft small number" dateTime={at}>
        {dateAndTime(Date.parse(at))}
      </time>
      <span class="admin-level small">{adminTexts.value.log.levels[level]}</span>
      <span class="code">{event}</span>
      {Object.entries(fields).map(([name, value]) => (
        <span key={name} class="admin-field code small">
          <span class="soft">{name}</span> {value}
        </span>
      ))}
    </li>
  )
}
