import type { JobParts } from '../../jobs/enqueue-sql.ts'

/** The next attempts of the deliveries of the part `from`, `(id, network_app_id)`: one app holds up no other. `trace` as for any job. */
export const deliveryJobs = (from: string, trace?: string) =>
  ({
    ...(trace !== undefined && { trace }),
    queue: 'webhook-delivery',
    from,
    data: { deliveryId: 'id' },
    group: 'network_app_id',
  }) as const satisfies JobParts
