// The endpoint of reports to the relay's operator.
import * as reports from '../bodies/reports.ts'
import { define, type Summaries } from './endpoint.ts'

export const reportEndpoints = define({
  report: {
    method: 'PUT',
    path: '/reports',
    auth: 'account',
    rate: 'report',
    body: reports.ReportBody,
    status: 200,
    adds: 'little',
    errors: ['NOT_FOUND'],
  },
})

/** One line about each endpoint, for the documents. */
export const reportSummaries: Summaries<typeof reportEndpoints> = {
  report:
    'Reports an account, a friend request, a channel or a post to the operator; again, it replaces the report',
}
