// Signs up, registers a file, changes it, reads its history, buys an action and deletes the account, with the generated client.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"annal-client/annal"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// expect ends the program unless the condition holds.
func expect[Value comparable](got, want Value) {
	if got != want {
		log.Panicf("got %v, want %v", got, want)
	}
}

// must returns the typed answer of a request that has to succeed.
func must[Answer any](answer Answer, _ *http.Response, err error) Answer {
	if err != nil {
		log.Panic(err)
	}
	return answer
}

func newClient() *annal.APIClient {
	url := os.Getenv("ANNAL_URL")
	if url == "" {
		url = "http://localhost:4000"
	}
	configuration := annal.NewConfiguration()
	configuration.Servers = annal.ServerConfigurations{{URL: url}}
	return annal.NewAPIClient(configuration)
}

// signUp creates an account and returns a context with its token.
func signUp(client *annal.APIClient, username string) context.Context {
	ctx := context.Background()
	email, password := username+"@example.org", "correct horse battery"
	made := must(client.AccountAPI.SignUp(ctx).SignUp(*annal.NewSignUp(username, email, password)).Execute())
	expect(made.Username, username)
	session := must(client.SessionsAPI.SignIn(ctx).SignIn(*annal.NewSignIn(email, password)).Execute())
	ctx = context.WithValue(ctx, annal.ContextAccessToken, session.AuthToken)
	keys := map[string]annal.APIKey{"apiKey": {Key: os.Getenv("ANNAL_API_KEY")}}
	return context.WithValue(ctx, annal.ContextAPIKeys, keys)
}

func newFile(text string) (*os.File, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("hello-%d.txt", time.Now().UnixNano()))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return os.Open(path)
}

func register(ctx context.Context, client *annal.APIClient, text string) (string, error) {
	file, err := newFile(text)
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	quote := must(client.QuotesAPI.QuoteRegisterAsset(ctx).AssetFile(file).PublicAccess(true).Execute())
	expect(quote.TotalCost, "0.179")
	expect(len(quote.Errors), 0)
	if file, err = os.Open(file.Name()); err != nil {
		return "", err
	}
	asset := must(client.AssetsAPI.RegisterAsset(ctx).AssetFile(file).Caption("Hello").PublicAccess(true).Execute())
	expect(asset.AssetFileName, filepath.Base(file.Name()))
	expect(asset.PublicAccess, true)
	expect(asset.NitCommitCustom == nil, true)
	content := must(client.FilesAPI.GetFile(ctx, asset.Id).Execute())
	defer os.Remove(content.Name())
	bytes, err := io.ReadAll(content)
	expect(string(bytes), text)
	return asset.Id, err
}

func update(ctx context.Context, client *annal.APIClient, nid string) {
	change := annal.NewUpdateAsset()
	change.SetCaption("Hello again")
	change.SetPublicAccess(false)
	change.SetNitCommitCustom(map[string]any{"license": map[string]any{"name": "CC-BY-4.0"}})
	expect(must(client.QuotesAPI.QuoteUpdateAsset(ctx, nid).UpdateAsset(*change).Execute()).TotalCost, "0.179")
	changed := must(client.AssetsAPI.UpdateAsset(ctx, nid).UpdateAsset(*change).Execute())
	expect(changed.Caption, "Hello again")
	expect(changed.PublicAccess, false)
	history := must(client.AssetsAPI.GetAssetHistory(ctx, nid).Execute())
	expect(history.Count, 2)
	expect(len(history.Commits), 2)
	revert := *annal.NewRevertAsset(history.Commits[0].Id)
	expect(must(client.AssetsAPI.RevertAsset(ctx, nid).RevertAsset(revert).Execute()).Caption, "Hello")
	listed := must(client.AssetsAPI.ListAssets(ctx).Limit(10).Execute())
	expect(listed.Results[0].Id, nid)
	expect(listed.Next.Get() == nil, true)
}

func buy(ctx context.Context, client *annal.APIClient) {
	wanted := annal.NewCreateOrder("upscale")
	wanted.SetActionArgs(map[string]any{"factor": 2})
	expect(must(client.QuotesAPI.QuoteCreateOrder(ctx).CreateOrder(*wanted).Execute()).TotalCost, "1.5")
	order := must(client.OrdersAPI.CreateOrder(ctx).CreateOrder(*wanted).Execute())
	expect(order.Status, "created")
	expect(order.ActionArgs["factor"], any(float64(2)))
	expect(must(client.QuotesAPI.QuoteConfirmOrder(ctx, order.Id).Execute()).PointsCharged, "1.5")
	paid := must(client.OrdersAPI.ConfirmOrder(ctx, order.Id).Execute())
	expect(paid.Status, "success")
	expect(paid.PointsPaid, "1.5")
	again := must(client.OrdersAPI.ConfirmOrder(ctx, order.Id).ConfirmOrder(*annal.NewConfirmOrder()).Execute())
	expect(again.PointsPaid, "1.5")
	other := must(client.OrdersAPI.CreateOrder(ctx).CreateOrder(*wanted).Execute())
	expect(must(client.OrdersAPI.CancelOrder(ctx, other.Id).Execute()).Id, other.Id)
}

func run() error {
	client := newClient()
	username := fmt.Sprintf("ada-%d", time.Now().UnixMilli())
	ctx := signUp(client, username)
	nid, err := register(ctx, client, "Hello, Annal, from "+username)
	if err != nil {
		return err
	}
	update(ctx, client, nid)
	buy(ctx, client)
	_, response, err := client.AssetsAPI.GetAsset(ctx, "bafkreiaaaa").Execute()
	expect(err != nil, true)
	expect(response.StatusCode, 404)
	expect(must(client.AccountAPI.GetMe(ctx).Execute()).AssetCount, 1)
	if _, err := client.AssetsAPI.DeleteAsset(ctx, nid).Execute(); err != nil {
		return err
	}
	_, err = client.AccountAPI.DeleteMe(ctx).Execute()
	return err
}
