/** A test that ran. */
interface ReportedTest {
  readonly file: string
  readonly name: string
  readonly ms: number
  /** Why it failed, if it did. */
  readonly failure?: string
}

interface Report {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly tests: readonly ReportedTest[]
}

export function readReport(path: string): Report
export function describeSlowest(tests: readonly ReportedTest[], most: number): string
export function describeFailures(tests: readonly ReportedTest[]): string
