// Signs up, registers a file, changes it, reads its history, buys an action and deletes the account.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"annal-client/annal"

	"github.com/oapi-codegen/runtime/types"
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

// must ends the program if a request fails.
func must[Answer any](answer Answer, err error) Answer {
	if err != nil {
		log.Panic(err)
	}
	return answer
}

// signIn creates an account and signs in.
func signIn(ctx context.Context) *annal.ClientWithResponses {
	nobody := must(annal.Sender{}.NewClient())
	username := fmt.Sprintf("ada-%d", time.Now().UnixMilli())
	email, password := types.Email(username+"@example.org"), "correct horse battery"
	made := must(nobody.SignUpWithResponse(ctx, nil, annal.SignUp{Username: username, Email: email, Password: password}))
	expect(made.JSON201.Username, username)
	session := must(nobody.SignInWithResponse(ctx, nil, annal.SignIn{Email: email, Password: password}))
	return must(annal.Sender{Token: session.JSON200.AuthToken, APIKey: os.Getenv("ANNAL_API_KEY")}.NewClient())
}

func register(ctx context.Context, client *annal.ClientWithResponses) string {
	file := fmt.Appendf(nil, "Hello, Annal, at %d.", time.Now().UnixNano())
	body, contentType, err := annal.NewForm("hello.txt", file, map[string]string{"caption": "Hello"})
	must(body, err)
	registered := must(client.RegisterAssetWithBodyWithResponse(ctx, nil, contentType, body))
	expect(registered.JSON201.AssetFileName, "hello.txt")
	return registered.JSON201.Id
}

func update(ctx context.Context, client *annal.ClientWithResponses, nid string) {
	caption := "Hello again"
	change := annal.UpdateAsset{Caption: &caption}
	quoted := must(client.QuoteUpdateAssetWithResponse(ctx, nid, nil, change))
	expect(quoted.JSON200.TotalCost, "0.179")
	changed := must(client.UpdateAssetWithResponse(ctx, nid, nil, change))
	expect(changed.JSON200.Caption, caption)
}

func buy(ctx context.Context, client *annal.ClientWithResponses) {
	ordered := must(client.CreateOrderWithResponse(ctx, nil, annal.CreateOrder{NetworkApp: "upscale"}))
	paid := must(client.ConfirmOrderWithResponse(ctx, ordered.JSON201.Id, nil, annal.ConfirmOrder{}))
	expect(paid.JSON200.PointsPaid, "1.5")
}

func run(ctx context.Context) error {
	client := signIn(ctx)
	nid := register(ctx, client)
	update(ctx, client, nid)
	asset := must(client.GetAssetWithResponse(ctx, nid, nil))
	expect(asset.JSON200.Caption, "Hello again")
	history := must(client.GetAssetHistoryWithResponse(ctx, nid, nil))
	expect(len(history.JSON200.Commits), 2)
	listed := must(client.ListAssetsWithResponse(ctx, nil))
	expect(listed.JSON200.Count, 1)
	buy(ctx, client)
	unknown := must(client.GetAssetWithResponse(ctx, "bafkreinope", nil))
	expect(string(unknown.JSON404.Error.Type), "resource_not_found")
	expect(must(client.DeleteAssetWithResponse(ctx, nid, nil)).StatusCode(), 204)
	expect(must(client.DeleteMeWithResponse(ctx, nil)).StatusCode(), 204)
	expect(must(client.GetMeWithResponse(ctx)).StatusCode(), 401)
	return nil
}
