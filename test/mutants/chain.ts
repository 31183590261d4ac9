import { type Mutant, mutantsOf } from './mutant.ts'

const COINS = ['chain/coins.test.ts']

export const chain: Mutant[] = [
  ...mutantsOf(
    'src/chain/foreign-commits.ts',
    ['chain/foreign-commits.test.ts'],
    [
      [
        'foreign.named-first',
        'Nothing is read for all files before all are known.',
        `if (hasNamed && trail[0].hash === first) return BETWEEN_MS`,
        ``,
      ],
      ['foreign.pages', 'All files are gone through, however many there are.', `after = row!.last`, `after = null`],
      [
        'foreign.forget-pages',
        'All is forgotten that the chain has lost, however much it is.',
        `count = row!.count`,
        `count = row!.count - 1`,
      ],
      [
        'foreign.young',
        'Of a registry that is not young, each file’s past is read.',
        `first = before?.hash`,
        `first = from.hash`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/foreign-find.ts',
    ['chain/foreign-commits.test.ts'],
    [
      [
        'foreign.narrow',
        'After a node did not answer for so many blocks, fewer are asked for.',
        'const isLess = range.refused(asked)',
        'const isLess = error instanceof RpcError && range.refused(asked)',
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/rpc.ts',
    ['chain/rpc.test.ts'],
    [
      [
        'rpc.longest-answer',
        'An answer of a node has a longest length.',
        'if (size > mostBytes) throw tooLong(mostBytes)',
        'if (size < 0) throw tooLong(mostBytes)',
      ],
    ],
  ),
  ...mutantsOf('src/chain/coin-plan.ts', COINS, [
    [
      'chain.coins-dust',
      'Coins are gathered once the fee is at most a hundredth of them.',
      `DUST_FACTOR = 100n`,
      `DUST_FACTOR = 2n`,
    ],
    [
      'chain.coins-remainder',
      'What is gathered costs its sender what lies there, and leaves nothing.',
      `value: amount - TRANSFER_GAS * gasPrice`,
      `value: amount - 2n * TRANSFER_GAS * gasPrice`,
    ],
    [
      'chain.coins-ladder',
      'Dearer transactions are signed before they are needed.',
      `return [...prices, cap]`,
      `return prices.slice(0, 1)`,
    ],
  ]),
  ...mutantsOf(
    'src/chain/coin-compare.ts',
    ['processes/coins-restore.processes.ts'],
    [
      [
        'chain.compare-unclaimed',
        'A payment that no withdrawal asks for is taken into the books only where the operator says so.',
        `!claim && !borne.has(hash)`,
        `!claim && !hash`,
      ],
      [
        'chain.compare-strange',
        'What went to somebody else is not taken for gathered.',
        `unknown.filter(({ to }) => !isTreasury.has(to))`,
        `unknown.filter(({ to }) => !to)`,
      ],
      [
        'chain.compare-claims',
        'Each withdrawal that waits is found among the payments.',
        `toUnits(amount) === payment.value`,
        `toUnits(amount) === payment.fee`,
      ],
    ],
  ),
  ...mutantsOf('src/chain/coin-addresses.ts', COINS, [
    [
      'chain.coins-taken',
      'What other moves take from an address is not free for one that is set aside.',
      `nonce >= count).reduce((free, { amount }) => free - amount`,
      `nonce >= count).reduce((free, { amount }) => free - 0n * amount`,
    ],
  ]),
  ...mutantsOf('src/chain/coin-last.ts', COINS, [
    [
      'chain.coins-not-credited',
      'A deletion signs for coins that were not credited yet.',
      `if (isAdded) add(others, false)`,
      `if (isAdded) add(0n * others, false)`,
    ],
    [
      'chain.coins-lost-one',
      'A deletion signs also for what is left when the chain loses some deposits.',
      `of isBooked ? lessenedBy`,
      `of isBooked && seen.count < 0 ? lessenedBy`,
    ],
    [
      'chain.coins-behind',
      'What a deletion signs stands at the nonce of the move that is set aside.',
      `moves.length === 0 ? aside : undefined`,
      `moves.length < 0 ? aside : undefined`,
    ],
    [
      'chain.coins-offline',
      'A deletion signs for what the books know where no node answers.',
      `return row && { chainId`,
      `return row && undefined && { chainId`,
    ],
  ]),
  ...mutantsOf(
    'src/chain/coin-withdraw.ts',
    ['chain/withdrawals.test.ts'],
    [
      [
        'chain.treasury-short',
        'Nothing is signed for that the treasury cannot pay.',
        `treasury.free >= needed && treasury.free >= withdrawal.amount + withdrawal.gasLimit * price`,
        `treasury.free >= 0n * needed && treasury.free >= 0n * (withdrawal.amount + withdrawal.gasLimit * price)`,
      ],
    ],
  ),
  ...mutantsOf('src/chain/coin-follow.ts', COINS, [
    ['chain.coins-displaced', 'A move whose block is gone is sent again.', `: hash !== blockHash`, `: false`],
    [
      'chain.refused-early',
      'What a recipient refused is given back once no reorganisation can pay it besides.',
      `(hasArrived ? parts.confirmations : depth)`,
      `(hasArrived ? parts.confirmations : parts.confirmations)`,
      ['chain/withdrawals.test.ts'],
    ],
  ]),
  ...mutantsOf('src/chain/coin-mover.ts', COINS, [
    [
      'chain.coins-starved',
      'Moves that can never succeed keep no other from being sent.',
      `isWhole = moves.length < PAGE`,
      `isWhole = moves.length <= PAGE`,
    ],
    ['chain.coins-earlier', 'Coins at an earlier treasury are told of.', `await tellEarlierTreasuries(parts)`, ``],
  ]),
  ...mutantsOf(
    'src/chain/coin-treasury.ts',
    ['chain/withdrawals.test.ts'],
    [
      [
        'chain.treasury-behind',
        'Nothing is signed where the chain knows of more than the database.',
        `const isDoubted = count > Math.max(nextNonce, first)`,
        `const isDoubted = count > Math.max(nextNonce, count, first)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay-follow.ts',
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
    'src/chain/relay-follow.ts',
    ['processes/relay-faults.processes.ts'],
    [
      [
        'chain.final-early',
        'A commit is final only when as many blocks lie on top as the operator wants.',
        `view.head.number - row.block_number >= parts.confirmations`,
        `view.head.number - row.block_number >= parts.confirmations - 1`,
      ],
      [
        'chain.receipt-without-log',
        'A transaction that logged nothing carried no commit.',
        `if (costs.length === row.commits.length) return`,
        `if (receipt.status === '0x1') return`,
        ['processes/relay-faults.processes.ts', 'chain/relay-batch.test.ts'],
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
    'src/chain/receipts.ts',
    ['chain/signing.test.ts'],
    [
      [
        'chain.receipt-failed',
        'A transaction that failed carried no commit.',
        `status === '0x1' ? logs.filter(isCommitLog) : []`,
        `status !== '' ? logs.filter(isCommitLog) : []`,
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
    'src/chain/relay-batch.ts',
    ['chain/relay-batch.test.ts'],
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
    'src/chain/relay-seek.ts',
    ['chain/relay-batch.test.ts'],
    [['chain.found-once', 'An event of the registry is one commit’s.', `&& !taken.has(event)`, ``]],
  ),
  ...mutantsOf(
    'src/chain/relay-doubt.ts',
    ['processes/relay-doubt.processes.ts'],
    [
      [
        'chain.displaced',
        'A commit whose block is gone is sent again.',
        `: hash !== row.block_hash`,
        `: false`,
        ['processes/relay-faults.processes.ts'],
      ],
      [
        'chain.displaced-unshown',
        'A block that a node does not have yet is not gone.',
        `row.block_number > head.number : hash`,
        `row.block_number >= 0 : hash`,
      ],
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
    'src/chain/relay-recover.ts',
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
    'src/chain/relay-sign.ts',
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
    'src/chain/relay-statements.ts',
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
    'src/chain/relay-prepare.ts',
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
    'src/chain/foreign-find.ts',
    ['chain/foreign-commits.test.ts'],
    [
      [
        'foreign.own',
        'What an account of ours wrote is no commit by others.',
        `commits.filter(({ recorder }) => !own.has(recorder))`,
        `commits`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/foreign-log.ts',
    ['chain/foreign-commits.test.ts'],
    [
      ['foreign.bound', 'Of what others write a bounded part is kept.', `Math.min(dataBytes, KEPT_BYTES)`, `dataBytes`],
      ['foreign.null', 'Bytes that the database cannot keep stop nothing.', `.replaceAll('\\0', '\\uFFFD')`, ''],
    ],
  ),
  ...mutantsOf(
    'src/chain/foreign-statements.ts',
    ['chain/foreign-commits.test.ts'],
    [
      [
        'foreign.earlier-account',
        'An account that carried commits of ours is ours, configured or not.',
        `where r.lane = item.recorder`,
        `where false`,
      ],
      [
        'foreign.reorganisation',
        'What the chain has lost is not told any more.',
        `from foreign_commits where block_number > $height`,
        `from foreign_commits where false`,
      ],
      [
        'foreign.many',
        'Of one file a bounded number is kept.',
        'from found_commits where place <= ${KEPT_OF_ONE}',
        'from found_commits',
      ],
      [
        'foreign.named',
        'Once the operator names an account as ours, nothing of it is told.',
        `f.nid = page.nid and f.recorder = any ($own)`,
        `false`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay-prepare-statements.ts',
    ['chain/foreign-commits.test.ts'],
    [
      [
        'foreign.new-file',
        'A file is watched for from its registration on.',
        `where c.sequence = 1 and a.deleted_at is null`,
        `where false and a.deleted_at is null`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/block-trail.ts',
    ['chain/deposits-reorg.test.ts'],
    [
      [
        'chain.put-back',
        'A chain that was put back is read from where it goes another way, also while it is shorter.',
        `head.time !== undefined && head.time > time`,
        `head.time !== undefined && head.time > time + 1e9`,
      ],
      [
        'chain.put-back-as-long',
        'A chain that was put back is read from where it goes another way, also when it is exactly as long again.',
        `return passed.hash !== head.hash`,
        `return false`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/deposits.ts',
    ['chain/deposits.test.ts'],
    [
      [
        'chain.deposits-silent',
        'A node that never has the next block is told of.',
        `if (lackingLooks > LACKING_LOOKS) throw`,
        `if (lackingLooks > LACKING_LOOKS * 1_000_000) throw`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/deposit-finder.ts',
    ['chain/deposits-contract.test.ts'],
    [
      [
        'chain.spending-fee',
        'What a wallet’s own key spends is known with its fee.',
        `fromUnits(moved + feeOf(receipt))`,
        `fromUnits(moved)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/deposit-finder.ts',
    ['chain/deposits-token.test.ts'],
    [
      [
        'chain.token-any',
        'Only events of the configured token count.',
        `params: [{ blockHash: hash, address: token, topics`,
        `params: [{ blockHash: hash, topics`,
      ],
      [
        'chain.token-name',
        'A token’s deposit has the same name in whatever block its transaction is.',
        `const position = seen.get(transactionHash) ?? 0`,
        `const position = seen.size`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/check-chain.ts',
    ['chain/check-chain.test.ts'],
    [
      [
        'chain.check-lost',
        'A commit that the chain lost is named.',
        `row.status === 'INCLUDED' || row.status === 'FINAL'`,
        `row.status === 'INCLUDED'`,
      ],
      [
        'chain.check-twice',
        'A commit that is there twice is named.',
        `same.length > wanted)`,
        `same.length > wanted + 1)`,
      ],
    ],
  ),
]
