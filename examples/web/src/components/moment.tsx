const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A moment, in the time zone of whoever looks. */
export const Moment = ({ at }: { at: string }) => <time dateTime={at}>{format.format(new Date(at))}</time>
