/** Notifications between processes. */

/** What is done about notifications of all processes. They say only where to look; what happened is read from the tables. */
export interface FeedListener {
  /** There may be new events in the feeds of these users. */
  onEvents(ownerIds: readonly string[]): void
  /** These access tokens and API keys, by UUID, have been revoked or deleted. */
  onRevoked(ids: readonly string[]): void
  /** Notifications may have been missed: called whenever the connection stands anew, and every two seconds besides. */
  onGap(): void
}

/** Notifications between processes. */
export interface FeedNotifications {
  /** Tells that a feed has grown; returns at once. To be called when the statement that wrote the event is done. */
  notify(ownerId: string): void
  /** Returns the way to stop. */
  listen(listener: FeedListener): () => void
}
