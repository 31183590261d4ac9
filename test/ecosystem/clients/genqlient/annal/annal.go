package annal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"os"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Sender contains the credentials of requests. Empty fields are not sent.
type Sender struct {
	// Token is the access token from SignIn.
	Token string
	// APIKey is the API key of a trusted service.
	APIKey string
}

type contextKey int

const (
	idempotencyKey contextKey = iota
	attachedFile
)

type file struct {
	path, name string
	content    io.Reader
}

// WithIdempotencyKey adds an idempotency key. Requests with the same key are executed once.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey, key)
}

// WithFile replaces the null at a path, such as "variables.input.assetFile", by a file.
func WithFile(ctx context.Context, path, name string, content io.Reader) context.Context {
	return context.WithValue(ctx, attachedFile, file{path, name, content})
}

// URL returns the URL of the GraphQL API.
func URL() string {
	if base := os.Getenv("ANNAL_URL"); base != "" {
		return base + "/graphql"
	}
	return "http://localhost:4000/graphql"
}

// NewClient returns a client for the generated functions.
func (sender Sender) NewClient() graphql.Client {
	return graphql.NewClient(URL(), sender)
}

// Do sends a request with the credentials of the sender and the options of its context.
func (sender Sender) Do(request *http.Request) (*http.Response, error) {
	if sender.Token != "" {
		request.Header.Set("Authorization", "token "+sender.Token)
	}
	if sender.APIKey != "" {
		request.Header.Set("X-Api-Key", sender.APIKey)
	}
	if key, ok := request.Context().Value(idempotencyKey).(string); ok {
		request.Header.Set("Idempotency-Key", key)
	}
	if file, ok := request.Context().Value(attachedFile).(file); ok {
		if err := file.attach(request); err != nil {
			return nil, err
		}
	}
	return http.DefaultClient.Do(request)
}

// attach turns the body into a form of the GraphQL multipart request specification.
func (file file) attach(request *http.Request) error {
	operations, err := io.ReadAll(request.Body)
	if err != nil {
		return err
	}
	places, err := json.Marshal(map[string][]string{"0": {file.path}})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	form.WriteField("operations", string(operations))
	form.WriteField("map", string(places))
	part, err := form.CreateFormFile("0", file.name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, file.content); err != nil {
		return err
	}
	form.Close()
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("GraphQL-Require-Preflight", "true")
	request.Body = io.NopCloser(&body)
	request.ContentLength = int64(body.Len())
	return nil
}

// #region refusal

// ErrorOf returns the code and the other extensions of an error. The code is empty for other errors.
func ErrorOf(err error) (ErrorCode, map[string]interface{}) {
	var list gqlerror.List
	if !errors.As(err, &list) || len(list) == 0 {
		return "", nil
	}
	code, _ := list[0].Extensions["code"].(string)
	return ErrorCode(code), list[0].Extensions
}

// #endregion

// #region follow

// Follow yields the events of a subscription until the caller leaves the loop. It uses server-sent events. The generated
// function uses WebSockets.
func Follow[Data any](ctx context.Context, sender Sender, query string, variables any, connected func()) iter.Seq2[Data, error] {
	return func(yield func(Data, error) bool) {
		var none Data
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			yield(none, err)
			return
		}
		request, err := http.NewRequestWithContext(ctx, "POST", URL(), bytes.NewReader(body))
		if err != nil {
			yield(none, err)
			return
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "text/event-stream")
		answer, err := sender.Do(request)
		if err != nil {
			yield(none, err)
			return
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			yield(none, fmt.Errorf("the stream was refused: %s", answer.Status))
			return
		}
		connected()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			text, isData := strings.CutPrefix(lines.Text(), "data: ")
			if !isData || text == "" {
				continue
			}
			var message struct {
				Data   Data
				Errors gqlerror.List
			}
			if err := json.Unmarshal([]byte(text), &message); err != nil {
				yield(none, err)
				return
			}
			if len(message.Errors) > 0 {
				yield(none, message.Errors)
				return
			}
			if !yield(message.Data, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(none, err)
		}
	}
}

// #endregion
