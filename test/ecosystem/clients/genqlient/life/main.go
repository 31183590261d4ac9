package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"annal-client/annal"

	"github.com/Khan/genqlient/graphql"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// expect ends the program unless the condition holds.
func expect[Value comparable](got, want Value) {
	if got != want {
		log.Panicf("got %v, want %v", got, want)
	}
}

// signIn creates an account and signs in.
func signIn(ctx context.Context) (string, error) {
	username := fmt.Sprintf("ada-%d", time.Now().UnixMilli())
	email, password := username+"@example.org", "correct horse battery"
	nobody := annal.Sender{}.NewClient()
	input := &annal.SignUpInput{Username: username, Email: email, Password: password}
	if _, err := annal.SignUp(ctx, nobody, input); err != nil {
		return "", err
	}
	session, err := annal.SignIn(ctx, nobody, &annal.SignInInput{Email: email, Password: password})
	if err != nil {
		return "", err
	}
	return session.SignIn.Token, nil
}

// #region update

func update(ctx context.Context, client graphql.Client, nid, caption, key string) (*annal.UpdateResponse, error) {
	license := map[string]interface{}{"license": map[string]string{"name": "CC-BY-4.0"}}
	input := &annal.UpdateAssetMetadataInput{Id: nid, Caption: &caption, NitCommitCustom: &license}
	return annal.Update(annal.WithIdempotencyKey(ctx, key), client, input)
}

// #endregion

// #region subscription

// nextCommit returns the first commit after `seen`.
func nextCommit(ctx context.Context, sender annal.Sender, nid string, seen int, connected func()) (int, error) {
	variables := map[string]any{"nid": nid}
	for told, err := range annal.Follow[annal.CommitsResponse](ctx, sender, annal.Commits_Operation, variables, connected) {
		if err != nil {
			return 0, err
		}
		if told.CommitUpdated.Sequence > seen {
			return told.CommitUpdated.Sequence, nil
		}
	}
	return 0, fmt.Errorf("the stream ended")
}

// #endregion

// #region pages

// history returns the sequences of an asset's commits, newest first, page by page.
func history(ctx context.Context, client graphql.Client, nid string, first int) (pages [][]int, err error) {
	for after := (*string)(nil); ; {
		answer, err := annal.History(ctx, client, nid, first, after)
		if err != nil {
			return nil, err
		}
		var page []int
		commits := answer.Asset.Commits
		for _, commit := range commits.Nodes {
			page = append(page, commit.Sequence)
		}
		pages = append(pages, page)
		if !commits.PageInfo.HasNextPage {
			return pages, nil
		}
		after = commits.PageInfo.EndCursor
	}
}

// #endregion

// #region errors

func order(ctx context.Context, client graphql.Client, networkApp string) (string, error) {
	answer, err := annal.Order(ctx, client, &annal.CreateOrderInput{NetworkApp: networkApp})
	switch code, known := annal.ErrorOf(err); {
	case code == annal.ErrorCodeInsufficientFund:
		return "", fmt.Errorf("top up %v", known["missing"])
	case code == annal.ErrorCodeInvalidNetworkAppName:
		return "", fmt.Errorf("there is no %s", networkApp)
	case err != nil:
		return "", err
	}
	return answer.CreateOrder.Order.Id, nil
}

// #endregion

func run(ctx context.Context) error {
	token, err := signIn(ctx)
	if err != nil {
		return err
	}
	sender := annal.Sender{Token: token, APIKey: os.Getenv("ANNAL_API_KEY")}
	client := sender.NewClient()
	withFile := annal.WithFile(ctx, "variables.input.assetFile", "hello.txt", strings.NewReader("Hello from "+token[:8]))
	registered, err := annal.Register(withFile, client, &annal.RegisterAssetInput{})
	if err != nil {
		return err
	}
	nid := registered.RegisterAsset.Asset.Id
	me, err := annal.Me(ctx, client)
	if err != nil {
		return err
	}
	expect(me.Me.Wallet.Points, "11.821")

	connected, told := make(chan struct{}), make(chan int, 1)
	failed := make(chan error, 1)
	go func() {
		sequence, err := nextCommit(ctx, sender, nid, 1, func() { close(connected) })
		told <- sequence
		failed <- err
	}()
	select {
	case <-connected:
	case err := <-failed:
		return err
	}
	first, err := update(ctx, client, nid, "Hello again", "once")
	if err != nil {
		return err
	}
	again, err := update(ctx, client, nid, "Hello again", "once")
	if err != nil {
		return err
	}
	expect(first.UpdateAssetMetadata.Asset.HeadId, again.UpdateAssetMetadata.Asset.HeadId)
	expect(first.UpdateAssetMetadata.Asset.CommitCount, 2)
	expect(<-told, 2)

	pages, err := history(ctx, client, nid, 1)
	if err != nil {
		return err
	}
	expect(fmt.Sprint(pages), "[[2] [1]]")

	_, err = order(ctx, client, "portrait")
	expect(err.Error(), "top up 988.358")
	_, err = order(ctx, client, "nothing of the kind")
	expect(err.Error(), "there is no nothing of the kind")
	id, err := order(ctx, client, "upscale")
	if err != nil {
		return err
	}
	maxCost := "2"
	confirmed, err := annal.Confirm(ctx, client, &annal.ConfirmOrderInput{Id: id, MaxCost: &maxCost})
	if err != nil {
		return err
	}
	expect(confirmed.ConfirmOrder.Order.TotalPaid, "1.5")
	return nil
}
