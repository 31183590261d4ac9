import { type Mutant, mutantsOf } from './mutant.ts'

export const relay: Mutant[] = [
  ...mutantsOf(
    'src/chain/recorders.ts',
    ['processes/relay-seek.processes.ts'],
    [
      [
        'chain.recorders-spelled',
        'An account is ours however its address is written down.',
        `named.map(asTold)`,
        `named`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/relay.ts',
    ['processes/relay-seek.processes.ts'],
    [
      [
        'chain.found-for-another',
        'What one account finds that another one carried becomes final, also where no block comes.',
        `if (lane) lane.seen = ''`,
        `if (lane) return`,
      ],
      [
        'chain.accounts-ahead',
        'What another account sent since the backup is not signed again.',
        `if (!isCompared) await noteAccountsAhead({ database, rpc, lease, recorders }, createLane(account.address).name)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/seek.ts',
    ['processes/relay-seek.processes.ts'],
    [
      [
        'chain.found-lane',
        'What is found of an account that is ours no more becomes final.',
        `parts.followLane(recorder)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/follow.ts',
    ['processes/relay-seek.processes.ts'],
    [
      [
        'chain.seen-too-late',
        'What is found on a chain that rests while a lane looks at it is looked at once more.',
        `    isSettled = settledAll && !isUnsure
`,
        `    isSettled = settledAll && !isUnsure
    if (isSettled) lane.seen = moment
`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/follow.ts',
    ['processes/relay-faults.processes.ts'],
    [
      [
        'chain.final-early',
        'A commit is final only when as many blocks lie on top as the operator wants.',
        `view.head.number - row.block_number >= parts.confirmations`,
        `view.head.number - row.block_number >= parts.confirmations - 1`,
        ['chain/relay.test.ts'],
      ],
      [
        'chain.receipt-without-log',
        'A transaction that logged nothing carried no commit.',
        `if (costs.length === row.commits.length) return`,
        `if (receipt.status === '0x1') return`,
        ['processes/relay-faults.processes.ts', 'processes/relay-batch.processes.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/rpc.ts',
    ['chain/rpc.test.ts'],
    [
      [
        'chain.limit-in-words',
        'A limit of a provider is none of what it was asked.',
        `limitCodes.has(code) || (limitWords`,
        `limitCodes.has(code) || (/(?!)/`,
      ],
      [
        'chain.too-much-is-no-limit',
        'What will be as much the next time is not waited for: less is asked for.',
        `if (isLimit(error) && !isTooMuch(error)) throw`,
        `if (isLimit(error)) throw`,
      ],
      [
        'chain.contract-is-no-limit',
        'What a recipient’s contract says stops nobody else’s payments.',
        `code !== REVERTED && !/revert/i.test(message)`,
        `true`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/registry/deploy.ts',
    ['processes/relay-doubt.processes.ts'],
    [
      [
        'chain.second-registry',
        'A node that is behind has no second registry deployed.',
        `if (known && (await registry.hasCode(known, block))) return known`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/send.ts',
    ['processes/relay-faults.processes.ts'],
    [
      [
        'chain.offers-for-price',
        'No more is offered for gas while a node is away, limits us or lacks funds.',
        `if (!lacksFunds && wantsMore(error)) lane`,
        `lane`,
      ],
      [
        'chain.refused-is-not-waiting',
        'What a node took, lost and refuses now waits nowhere for a better price.',
        `    lane.sentAt.delete(nonce)
`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/gas-quote.ts',
    ['chain/gas-quote.test.ts'],
    [
      [
        'chain.quote-bounds',
        'What is charged for gas is never more than the operator wants.',
        `larger(least, smaller(most, ((exact`,
        `larger(least, larger(0n, ((exact`,
      ],
      [
        'chain.quote-trembles',
        'A quote holds while the price of gas only trembles.',
        `return isClose && before`,
        `return before < 0n && before`,
      ],
      ['chain.quote-alike', 'All processes charge alike.', `if (known?.fresh) return`, ``],
    ],
  ),
  ...mutantsOf(
    'src/chain/replies.ts',
    ['chain/signing.test.ts', 'processes/withdrawals.processes.ts', 'processes/coins-restore.processes.ts'],
    [
      [
        'chain.fee-below',
        'What a chain takes for the one below it is part of what a transaction costs.',
        ` + BigInt(l1Fee)`,
        ``,
      ],
      [
        'chain.status-by-number',
        'What arrived is not given back, however a node writes that it did.',
        `Number(status) === 1`,
        `status === '0x1'`,
        ['processes/withdrawals.processes.ts'],
      ],
      [
        'chain.receipt-without-status',
        'What a node tells no status of is not given back.',
        `throw unavailable('The chain', new Error('A receipt tells no status'))`,
        `return false`,
        ['processes/withdrawals.processes.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/receipts.ts',
    ['chain/signing.test.ts'],
    [
      [
        'chain.receipt-failed',
        'A transaction that failed carried no commit.',
        `hasSucceeded(receipt) ? receipt.logs`,
        `receipt.status !== '' ? receipt.logs`,
      ],
      [
        'chain.cost-whole',
        'What the commits of a transaction cost sums to what it cost, to the wei.',
        `const share = (amount * before) / whole - taken`,
        `const share = (amount * weight) / whole`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/batch.ts',
    ['processes/relay-batch.processes.ts'],
    [
      [
        'chain.batch-asked',
        'A registry gets several commits at once only where it says that it takes them.',
        `return batchQuestions.every(({ answer }, index) => isWord(outcomes[index]?.result, answer))`,
        `return outcomes.length > 0`,
      ],
      [
        'chain.batch-alone',
        'What was signed before without effect is never put together with others again.',
        `if (call.isAlone) {`,
        `if (call.bytes < 0) {`,
      ],
      [
        'chain.batch-unestimated',
        'Commits that the node does not estimate together go one by one.',
        `for (const call of group) await place([call])`,
        `packed.push({ calls: group, gasLimit: 1_000_000n })`,
      ],
      [
        'chain.batch-block',
        'A batch wants no more than its part of a block.',
        `} else if (gasLimit <= most) packed`,
        `} else if (gasLimit <= most * 100n) packed`,
      ],
      [
        'chain.batch-bytes',
        'A batch is no larger than chains take.',
        `bytes + call.bytes > MAXIMUM_BATCH_BYTES`,
        `bytes + call.bytes > 10 * MAXIMUM_BATCH_BYTES`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/seek.ts',
    ['processes/relay-batch.processes.ts'],
    [['chain.found-once', 'An event of the registry is one commit’s.', `&& !taken.has(event)`, ``]],
  ),
  ...mutantsOf(
    'src/chain/view.ts',
    ['processes/relay-doubt.processes.ts'],
    [
      [
        'chain.displaced',
        'A commit whose block is gone is sent again.',
        `: present !== hash`,
        `: false`,
        ['processes/relay-faults.processes.ts'],
      ],
      [
        'chain.displaced-unshown',
        'A block that a node does not have yet is not gone.',
        `? number > head.number :`,
        `? number >= 0 :`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/doubt.ts',
    ['processes/relay-doubt.processes.ts'],
    [
      [
        'chain.behind',
        'A node that is behind what was seen is not believed.',
        `if (head.number < highest && !(await isOtherChain(parts, lanes, head)) && !standsStill(head)) {`,
        `if (head.number < 0 && !(await isOtherChain(parts, lanes, head)) && !standsStill(head)) {`,
      ],
      [
        'chain.behind-at-start',
        'What was seen before a restart counts.',
        `highest = newest?.block_number ?? 0`,
        `highest = newest ? 0 : 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/pace.ts',
    ['chain/signing.test.ts'],
    [
      [
        'chain.pace',
        'However busy a gateway is, signing goes on.',
        `Math.min(spent * REST_FACTOR, LONGEST_REST_MS)`,
        `spent * REST_FACTOR`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/recover.ts',
    ['processes/relay-doubt.processes.ts'],
    [
      [
        'chain.count-too-low',
        'A count that contradicts the node’s own blocks is not believed.',
        `placed.some((row) => canonical.get(row.block_number) === row.block_hash)`,
        `placed.some((row) => row.block_number < 0)`,
      ],
      [
        'chain.unshown-for-good',
        'What was in a block that a node has no more is sent again.',
        `lasts >= parts.doubtPatience && isUnshown(row)`,
        `lasts < 0 && isUnshown(row)`,
      ],
      [
        'chain.unshown-at-once',
        'A block that is not shown for a moment is waited for.',
        `lasts >= parts.doubtPatience && isUnshown(row)`,
        `isUnshown(row)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/sign.ts',
    ['processes/relay-doubt.processes.ts'],
    [
      [
        'chain.count-too-high',
        'No nonce is taken on a count that nothing accounts for.',
        `if (count > nextNonce && !(await isAccountedFor(parts, lane, view, count))) return true`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/fees.ts',
    ['chain/signing.test.ts'],
    [
      [
        'chain.fee-cap',
        'No more is offered than the operator allows.',
        `  if (nextBaseFee > cap) return undefined\n`,
        '',
        ['chain/signing.test.ts', 'processes/relay-faults.processes.ts'],
      ],
      ['chain.fee-twice', 'An offer stays valid while fees rise.', `2n * nextBaseFee + tip`, `nextBaseFee + tip`],
      [
        'chain.raise-tip',
        'A replacement raises both fees by an eighth.',
        `(fee * 1125n + 999n) / 1000n, fee + 1n`,
        `(fee * 1025n + 999n) / 1000n, fee + 1n`,
      ],
      [
        'chain.raise-above-cap',
        'A replacement is never above the cap.',
        `return wanted && maxFeePerGas <= cap ?`,
        `return wanted ?`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/fail-commit.ts',
    ['chain/relay.test.ts', 'processes/relay-faults.processes.ts'],
    [
      [
        'chain.refund-once',
        'A commit that failed is refunded once.',
        `where r.commit_id = $commit and c.id = r.commit_id and r.status in ('PENDING', 'BROADCAST')`,
        `where r.commit_id = $commit and c.id = r.commit_id`,
      ],
      [
        'chain.refund-amount',
        'A refund gives back what was charged.',
        `set num = w.num - sums.num, points = w.points - sums.points,`,
        `set num = w.num - sums.num, points = w.points,`,
        ['rest/events.test.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/statements.ts',
    ['chain/relay.test.ts', 'processes/relay-faults.processes.ts'],
    [
      [
        'chain.taken-once',
        'A commit takes one nonce.',
        `where r.commit_id = item.commit_id and r.status = 'PENDING' and r.lane is null
     returning`,
        `where r.commit_id = item.commit_id
     returning`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/prepare.ts',
    ['processes/relay-prepare.processes.ts'],
    [
      [
        'chain.full-store',
        'Commits do not wait long for a file store that was full.',
        `isUnavailable(error) || isFull(error)`,
        `isUnavailable(error)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/prepare.ts',
    ['processes/relay-seek.processes.ts'],
    [
      [
        'chain.refund-unsought',
        'What cannot be signed is refunded only when the chain does not have it.',
        `if (await options.takeFromChain(leaseName, row.commit_id)) return\n    log`,
        `log`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/prepare-statements.ts',
    ['processes/foreign-commits.processes.ts'],
    [
      [
        'foreign.new-file',
        'A file is watched for from its registration on.',
        `where c.sequence = 1 and a.deleted_at is null`,
        `where false and a.deleted_at is null`,
      ],
    ],
  ),
]
