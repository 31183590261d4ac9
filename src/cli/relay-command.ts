/** `annal relay`. */
import type { Command } from 'commander'
import { command } from './command.ts'
import { counted, green, print, printJson, red, say, table } from './output.ts'
import { withDatabase } from './with-installation.ts'

interface RelayFlags {
  retry?: boolean
  json?: true
}

async function readRelay(retry: boolean) {
  const { countDueWithdrawals } = await import('../modules/coins/withdrawals.sql.ts')
  const { toId } = await import('../shared/ids.ts')
  const { countByStatus, findWaiting, retryNow } = await import('../chain/relay/commit-signer.sql.ts')
  return withDatabase(async (database) => {
    const [due] = retry ? await database.query(retryNow) : []
    return {
      retried: due?.count ?? 0,
      counts: await database.query(countByStatus),
      waiting: (await database.query(findWaiting)).map((row) => ({ ...row, commit_id: toId('commit', row.commit_id) })),
      withdrawals: await database.query(countDueWithdrawals),
    }
  })
}

/** Adds `annal relay`. */
export function addRelayCommand(program: Command): void {
  command(program, 'relay', 'Shows what is on its way to the chain, and which commits wait and why.', [
    'annal relay',
    'annal relay --retry',
  ])
    .option('--retry', 'tries at once what waits')
    .option('--json', 'prints {"retried", "counts", "waiting", "withdrawals"}')
    .action(async ({ retry = false, json }: RelayFlags) => {
      const { retried, counts, waiting, withdrawals } = await readRelay(retry)
      const [due] = withdrawals
      if (json) return printJson({ retried, counts, waiting, withdrawals: due })
      const rows = counts.map(({ status, count, oldest }) => [status, String(count), oldest.toISOString()])
      print(table([['status', 'commits', 'oldest'], ...rows]))
      if (due && due.count > 0)
        say(
          red(`${counted(due.count, 'withdrawal waits', 'withdrawals wait')} for ${due.amount} coins of the treasury.`),
        )
      if (retry) say(`${counted(retried, 'commit is', 'commits are')} tried again now.`)
      if (waiting.length === 0) return say(green('No commit waits because it could not be made ready.'))
      const lines = waiting.map(({ commit_id, nid, attempts, next_attempt_at, last_error }) => [
        ...[commit_id, nid, String(attempts), next_attempt_at.toISOString(), last_error],
      ])
      print(table([['commit', 'asset', 'attempts', 'next attempt', 'why'], ...lines]))
      say(red(`${counted(waiting.length, 'commit waits', 'commits wait')}; those behind them, too.`))
    })
}
