// SQLite's plans of the queries that a function makes.
import type { Sql, SqlValue, Storage } from '../src/storage/storage.ts'

/** A step of a query plan of SQLite. */
export interface PlanStep {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** Queries like `sql`, and adds the plan of each query to `plans`. The plans are read through `reader`. */
export function explaining(sql: Sql, plans: PlanStep[][], reader = sql): Sql {
  return async <Row extends object>(strings: TemplateStringsArray, ...values: SqlValue[]) => {
    plans.push(await reader<PlanStep>(explanationOf(strings), ...values))
    return await sql<Row>(strings, ...values)
  }
}

/** A store whose transactions add the plan of each query to `plans`. */
export function explainingStorage(storage: Storage, plans: PlanStep[][]): Storage {
  return {
    ...storage,
    sql: explaining(storage.sql, plans),
    transaction: (work) => storage.transaction((sql) => work(explaining(sql, plans, storage.sql))),
  }
}

function explanationOf(strings: TemplateStringsArray): TemplateStringsArray {
  const texts = strings.map((text, index) => (index === 0 ? `EXPLAIN QUERY PLAN ${text}` : text))
  return Object.assign(texts, { raw: texts })
}
