// sotto reports: what people reported to the operator.
import type { ReportDetail, ReportLine } from '@sotto/relay'
import { type CommandGroup, UsageError } from './command.ts'
import { linesOr } from './moderation-actions.ts'
import { at, changeFlags, commonFlags, print, reasonIfGiven, tell, whoOf } from './moderation-flags.ts'
import { sanitizeLine, sanitizeText } from './sanitize.ts'

export const reportsCommand: CommandGroup = {
  name: 'reports',
  summary: 'what people reported',
  help: `Usage: sotto reports list [--all]
       sotto reports show NUMBER
       sotto reports done NUMBER [--reason TEXT]

Works on the reports at the relay on this machine, like "sotto accounts". People report an account, a
friend request, a channel or a post. They see the content of messages, the relay does not: what they
attached may be false.

  list             reports that are not done, newest first, at most 50
    --all            also those that are done
  show             one report with what was attached, and the post that it is about
  done             record that it was dealt with, and erase what was attached

  --reason TEXT    what became of it, at most 500 characters
  --by NAME        who does it (default: your user name on this machine)
  --json           print JSON instead of text
  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.`,
  actions: [
    {
      name: 'list',
      options: { ...commonFlags, all: { type: 'boolean' } },
      run: async (flags) => {
        const all = flags.all === true
        const reports = await tell((relay) => relay.tellRelay(at(flags), 'reports.list', { all }))
        return print(flags, reports, linesOr('There are no such reports.', lineOf)(reports))
      },
    },
    {
      name: 'show',
      words: ['NUMBER'],
      options: commonFlags,
      run: async (flags, [number]) => {
        const input = { id: idOf(number) }
        const report = await tell((relay) => relay.tellRelay(at(flags), 'reports.show', input))
        return print(flags, report, detailText(report))
      },
    },
    {
      name: 'done',
      words: ['NUMBER'],
      options: changeFlags,
      run: async (flags, [number]) => {
        const input = { id: idOf(number), ...whoOf(flags), ...reasonIfGiven(flags) }
        const report = await tell((relay) => relay.tellRelay(at(flags), 'reports.done', input))
        return print(flags, report, `Report ${report.id} is done.`)
      },
    },
  ],
}

function idOf(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`NUMBER is the number of a report, not "${text}"`)
}

function detailText(report: ReportDetail): string {
  const { post, content } = report
  return [
    lineOf(report),
    ...(post === null ? [] : ['', 'The post:', sanitizeText(post)]),
    ...(content === null ? [] : ['', 'What the reporter attached:', sanitizeText(content)]),
  ].join('\n')
}

function lineOf({
  id,
  about,
  object,
  reporter,
  reason,
  has_content,
  reported_at,
  done_at,
}: ReportLine): string {
  const attached = has_content ? '  with content' : ''
  const done = done_at === null ? '' : '  done'
  const words = sanitizeLine(reason, 200)
  return `${id}  ${reported_at.slice(0, 19)}Z  ${about} ${object}  by ${reporter}  ${words}${attached}${done}`
}
